/**
 * Generated scripts against a model of the dialect. WF_SOAK multiplies the number of scripts (`WF_SOAK=20 npx vitest run
 * test/dialect/random-scripts.test.ts`); WF_TEST_SEED repeats a run.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackendError, defineBackend, type RunEvent, type RunResult, runWorkflow } from '../../src/index.js';
import { type JournalLine, readJournal } from '../support/journal.js';
import { requireBuild } from '../support/run-wf.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { answerTo, expectedOf, type Generated, pieces, writeScripts } from './support/random-scripts.js';

const RUNS = 40 * Number(process.env.WF_SOAK ?? 1);

/** Answers with the prompt itself, after a little while that the seed decides, so that answers overtake each other. */
function makeBackend(seed: number) {
  const random = seededRandom(seed);
  return defineBackend({
    name: 'echo',
    async run({ prompt, schema }) {
      const ms = Math.floor(random() * 6);
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      const text = answerTo(prompt);
      if (text === undefined) throw new BackendError('failed', 'failed as asked');
      return { text: schema ? JSON.stringify({ said: text }) : text };
    },
  });
}

interface Ran extends RunResult {
  events: RunEvent[];
  lines: JournalLine[];
}

async function run(folder: string, script: Generated, seed: number, resumeFrom?: string): Promise<Ran> {
  const events: RunEvent[] = [];
  const result = await runWorkflow({
    source: { text: script.main, filename: 'main.js' },
    resumeFrom,
    backend: makeBackend(seed),
    concurrency: 1 + (seed % 5),
    cwd: folder,
    home: folder,
    env: { PATH: '' },
    onEvent: (event) => void events.push(event),
  });
  return { ...result, events, lines: readJournal(join(result.folder, 'journal.jsonl')) };
}

/** What of a journal does not depend on when answers came: everything but places, numbers in call order, times and sums. */
const essence = (lines: readonly JournalLine[]): string[] =>
  lines.map(({ seq: _, n: __, startedAt: ___, endedAt: ____, sum: _____, ...line }) => JSON.stringify(line)).sort();

/** Runs `work` in a folder of its own that is a project. */
async function inFolder(script: Generated, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'wf-random-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{}');
    for (const [file, text] of Object.entries(script.children)) writeFileSync(join(folder, file), text);
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

describe('generated scripts', () => {
  it(`return what the model says, write the same journal twice, and replay from it (${RUNS} scripts, seed ${testSeed()})`, {
    timeout: 120_000 + RUNS * 10_000,
  }, async () => {
    requireBuild();
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', onUnhandled);
    const property = fc.asyncProperty(pieces, fc.nat(1_000_000), async (piece, seed) => {
      const script = writeScripts(piece);
      const expected = expectedOf(piece);
      await inFolder(script, async (folder) => {
        const one = await run(folder, script, seed);
        expect(one.result).toEqual(expected);
        expect(one.status).toBe('completed');
        expect(one.counts.abandoned + one.counts.noResult).toBe(0);
        // Other delays and another concurrency: the same journal but for the order.
        const two = await run(folder, script, seed + 1);
        expect(two.result).toEqual(expected);
        expect(essence(two.lines)).toEqual(essence(one.lines));
        const three = await run(folder, script, seed + 2, one.runId);
        expect(three.result).toEqual(expected);
        expect(three.counts).toMatchObject({
          executed: one.counts.failed + one.counts.recovered,
          reused: one.counts.ok,
        });
        // A resume whose failed call runs again says that answers behind it were reused.
        const told = [one, two, three].flatMap(({ events }) =>
          events.filter((event) => event.type === 'warning' && event.code !== 'WF_NOTICE'),
        );
        expect(told).toEqual([]);
      });
    });
    try {
      await fc.assert(property, {
        seed: testSeed(),
        numRuns: RUNS,
        interruptAfterTimeLimit: 100_000 + RUNS * 8_000,
        markInterruptAsFailure: true,
      });
    } finally {
      process.off('unhandledRejection', onUnhandled);
    }
    expect(unhandled).toEqual([]);
  });
});

describe('the model', () => {
  it('is asked for every kind of piece', () => {
    const text = JSON.stringify(fc.sample(pieces, { seed: testSeed(), numRuns: 200 }));
    for (const kind of ['agent', 'value', 'throw', 'timer', 'caught', 'loop', 'all', 'parallel', 'pipeline', 'child'])
      expect(text).toContain(`"kind":"${kind}"`);
  });
});
