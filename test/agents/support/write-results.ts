/**
 * After a run: the results of all scenarios that were gone through, in `results.json`. With `npm run agents -- --write` the file
 * and the table in docs/backends.md are written; without it a difference ends the run with an error.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { mergeResults, readResults, writeResults } from '../../../scripts/backends-table.mjs';
import type { Result } from './results.js';
import { SCENARIOS } from './scenario-names.js';

declare module 'vitest' {
  interface ProvidedContext {
    resultsFolder: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'wf-results-'));
  project.provide('resultsFolder', folder);
  return () => {
    const news = readdirSync(folder).flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Result),
    );
    rmSync(folder, { recursive: true, force: true });
    if (news.length === 0 || news.some(({ state }) => state === 'fails')) return;
    const merged = mergeResults(readResults(), news, SCENARIOS);
    if (JSON.stringify(merged) === JSON.stringify(readResults())) return;
    if (process.env.WF_WRITE_RESULTS) return writeResults(merged);
    throw new Error('test/agents/results.json is not what the scenarios gave: npm run agents -- --write');
  };
}
