/**
 * Proof by generation: random workflows × random orders of answers × kills at any byte of the journal × chains of up to
 * five resumes. WF_GENERATION_CASES sets how many (default 500), WF_TEST_SEED where they begin.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom, testSeed } from '../support/seeds.js';
import { answersIn } from './check-run.js';
import { type ModelRun, runModel } from './model-run.js';
import { createReusableSandbox, type ReusableSandbox } from './reusable-sandbox.js';
import { runChain, uuidOf } from './run-chain.js';

const CASES = Number(process.env.WF_GENERATION_CASES ?? 500);
/** A case takes tens of milliseconds. */
const LIMIT_MS = 1_200_000 + CASES * 200;

let sandbox: ReusableSandbox;
beforeAll(() => {
  sandbox = createReusableSandbox();
});
afterAll(() => sandbox.close());

/**
 * Answers that lay there unused while a later run was charged for another of the same key. An answer that came when its
 * child workflow was ending lies unused too, but nobody asks for it again.
 */
function findPaidTwice(runs: readonly ModelRun[], used: ReadonlySet<string>): string[] {
  const made = runs.map((run) => answersIn(run.journal).made);
  return made.flatMap((answers, i) =>
    [...answers]
      .filter(
        ([answer, key]) => !used.has(answer) && made.slice(i + 1).some((later) => [...later.values()].includes(key)),
      )
      .map(([answer]) => answer),
  );
}

const replay = (seed: number): string => `WF_TEST_SEED=${seed} WF_GENERATION_CASES=1 npx vitest run test/generation`;

describe('B-001 B-007 J11 J13 R7 chains of kills and resumes', () => {
  test('no answer that was recorded is paid for again, races and equal prompts included', {
    timeout: LIMIT_MS,
  }, async () => {
    for (let i = 0; i < CASES; i++) {
      const seed = testSeed() + i;
      try {
        const { runs, last } = await runChain(sandbox, seed, { races: seed % 2 === 1 });
        expect(last.end.how).toBe('done');
        expect(findPaidTwice(runs, answersIn(last.journal).delivered)).toEqual([]);
      } catch (error) {
        throw new Error(`case of seed ${seed} (again: ${replay(seed)}): ${(error as Error).message}`, { cause: error });
      }
    }
  });

  test('an answer that its child workflow did not wait for is there for another call of its key', async () => {
    // Found by `npm run soak`.
    const { runs, last } = await runChain(sandbox, 30_007_581, { races: true });
    expect(runs.length).toBeGreaterThan(1);
    expect(findPaidTwice(runs, answersIn(last.journal).delivered)).toEqual([]);
  });

  test('the result equals that of a run that was never interrupted', { timeout: LIMIT_MS }, async () => {
    const answer = (prompt: string): string => `a:${createHash('sha256').update(prompt).digest('hex').slice(0, 8)}`;
    for (let i = 0; i < Math.ceil(CASES / 4); i++) {
      const seed = testSeed() + 1_000_000 + i;
      try {
        const { last, script } = await runChain(sandbox, seed, { answer });
        const whole = await runModel(sandbox, {
          script: script.text,
          children: script.children,
          runId: uuidOf(`${seed}.whole`),
          random: seededRandom(seed + 1),
          answer,
        });
        expect(last.end).toEqual(whole.end);
      } catch (error) {
        throw new Error(`case of seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  });
});
