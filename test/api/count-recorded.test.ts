/**
 * A run in progress and the records of one that was killed are counted by the same rules: random runs are played to
 * their end, or cancelled, and are counted once more as if a kill had left no outcome of them.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BackendError, defineBackend, listRuns, type RunResult, readRun, runWorkflow } from '../../src/index.js';
import { emptyCounts, emptyUsage } from '../../src/shared/outcome.js';
import { requireBuild } from '../support/run-wf.js';
import { testSeed } from '../support/seeds.js';
import { makeProject } from '../support/temp-project.js';

const RUNS = 20 * Number(process.env.WF_SOAK ?? 1);

/** Few questions, so that equal ones are asked side by side and one after the other. */
interface Ask {
  prompt: string;
  phase: string;
  /** What comes of it; it is no part of the key. */
  label: string;
}
interface Group {
  side: boolean;
  steps: Step[];
}
type Step = Ask | Group;

const SCRIPT = `export const meta = { name: 'flow', description: 'Asks what its args say' }
const play = async (step) => {
  if (step.prompt) return agent(step.prompt, { label: step.label, phase: step.phase })
  if (step.side) return parallel(step.steps.map((one) => () => play(one)))
  for (const one of step.steps) await play(one)
}
await play(args)`;

const ask = fc.record({
  prompt: fc.constantFrom('a', 'b', 'c'),
  phase: fc.constantFrom('P', 'Q'),
  // Sums of quarters do not depend on their order.
  label: fc
    .tuple(fc.constantFrom('ok', 'ok', 'failed'), fc.nat(5), fc.constantFrom('0.25', '1.5', 'unknown', 'untold'))
    .map((parts) => parts.join(' ')),
});
const { group } = fc.letrec<{ group: Group; step: Step }>((tie) => ({
  step: fc.oneof({ depthSize: 'small' }, ask, tie('group')),
  group: fc.record({ side: fc.boolean(), steps: fc.array(tie('step'), { minLength: 1, maxLength: 5 }) }),
}));

const backend = defineBackend({
  name: 'by-label',
  async run({ label }, { signal }) {
    const [end, ms, usd] = label.split(' ');
    await pause(Number(ms), undefined, { signal });
    const cost = { inputTokens: 3, outputTokens: 2, ...(usd === 'unknown' ? {} : { usd: Number(usd) }) };
    const told = usd === 'untold' ? {} : { usage: cost };
    if (end === 'failed') throw new BackendError('failed', 'failed as asked', told);
    return { text: 'fine', ...told };
  },
});

/** Takes away what the run has told of itself at its end and at its heartbeats. */
function forgetOutcome(folder: string): void {
  rmSync(join(folder, 'state.json'));
  const file = join(folder, 'run.json');
  const record = JSON.parse(readFileSync(file, 'utf8'));
  const progress = { counts: emptyCounts(), usage: { ...emptyUsage(), usd: 0 }, phase: null, journalBytes: 0 };
  writeFileSync(file, JSON.stringify({ ...record, status: 'running', endedAt: null, progress }));
}

it(`random runs and their resumes have the same numbers live and from their records (${RUNS} runs, seed ${testSeed()})`, {
  timeout: 120_000 + RUNS * 5_000,
}, async () => {
  requireBuild();
  const project = makeProject();
  const where = { cwd: project.dir, home: project.home, env: project.env };
  const play = async (args: Step, concurrency: number, cancelAfter: number, resumeFrom?: string) => {
    const source = resumeFrom === undefined ? { source: { text: SCRIPT, filename: 'flow.js' }, args } : { resumeFrom };
    const cancel = new AbortController();
    let ends = 0;
    const onEvent = ({ type }: { type: string }): void => {
      if (type === 'call.finished' && ++ends === cancelAfter) cancel.abort();
    };
    return runWorkflow({ ...where, ...source, backend, concurrency, signal: cancel.signal, onEvent });
  };
  const compare = ({ runId, folder, counts, usage }: RunResult): void => {
    const { phases } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
    forgetOutcome(folder);
    const shown = readRun(runId, where);
    expect({ counts: shown.counts, usage: shown.usage }).toEqual({ counts, usage });
    // A hit may be told of after a call with a higher number.
    expect(shown.phases).toHaveLength(phases.length);
    expect(shown.phases).toEqual(expect.arrayContaining(phases));
    const listed = listRuns(where).find((row) => row.runId === runId);
    // Where no line was written, wf ls goes by the heartbeat.
    if (shown.calls.some(({ seq }) => seq !== null)) expect(listed).toMatchObject({ counts, usage });
  };
  const property = fc.asyncProperty(
    group,
    fc.integer({ min: 1, max: 6 }),
    fc.integer({ min: 1, max: 30 }),
    async (args, concurrency, cancelAfter) => {
      const first = await play(args, concurrency, cancelAfter);
      const second = await play(args, concurrency, 0, first.runId);
      compare(first);
      compare(second);
    },
  );
  await fc.assert(property, { seed: testSeed(), numRuns: RUNS });
});
