/** What each backend did in each scenario; kept in `results.json`, from which docs/backends.md shows a table. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import type { Scenario } from './scenario-names.js';

export interface Result {
  backend: string;
  /** What was run, with its version. */
  runs: string;
  scenario: Scenario;
  state: 'works' | 'cannot' | 'fails';
  /** Why it cannot. */
  note?: string;
}

/** To be called inside of the test that goes through the scenario. */
export function recordResult(backend: string, runs: string, scenario: Scenario, note?: string): void {
  onTestFinished(({ task }) => {
    const failed = task.result?.state === 'fail' || (task.result?.errors?.length ?? 0) > 0;
    const state: Result['state'] = failed ? 'fails' : note === undefined ? 'works' : 'cannot';
    const result: Result = { backend, runs, scenario, state, ...(note !== undefined && { note }) };
    appendFileSync(join(inject('resultsFolder'), `${process.pid}.jsonl`), `${JSON.stringify(result)}\n`);
  });
}
