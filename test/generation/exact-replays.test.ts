/**
 * Generated chains again, with edits of the script between the runs, time limits that the script sets, and children that
 * return while calls and timers of theirs are open. WF_GENERATION_CASES sets how many (default 500, of which each test
 * here takes a part), WF_TEST_SEED where they begin.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testSeed } from '../support/seeds.js';
import { deliveriesIn, findNeedless } from './check-run.js';
import { createReusableSandbox, type ReusableSandbox } from './reusable-sandbox.js';
import { type Chain, type ChainOptions, runChain } from './run-chain.js';

const CASES = Math.ceil(Number(process.env.WF_GENERATION_CASES ?? 500) / 4);
const LIMIT_MS = 600_000 + CASES * 300;

let sandbox: ReusableSandbox;
beforeAll(() => {
  sandbox = createReusableSandbox();
});
afterAll(() => sandbox.close());

async function runChains(from: number, options: ChainOptions, check: (chain: Chain) => Promise<void>): Promise<void> {
  for (let i = 0; i < CASES; i++) {
    const seed = testSeed() + from + i;
    try {
      await check(await runChain(sandbox, seed, options));
    } catch (error) {
      const again = `WF_TEST_SEED=${testSeed() + i} WF_GENERATION_CASES=1 npx vitest run test/generation/exact-replays.test.ts`;
      throw new Error(`case of seed ${seed} (again: ${again}): ${(error as Error).message}`, { cause: error });
    }
  }
}

/** A run whose every call was ok: nothing is asked again, and everything comes in the order in which it came. */
async function checkExact({ last, again }: Chain): Promise<void> {
  const replay = await again();
  expect(replay.dispatched).toEqual([]);
  expect(replay.end).toEqual(last.end);
  const given = deliveriesIn(replay.journal);
  // What came when nobody waited for it any more has a place in the record, and is not given.
  expect(deliveriesIn(last.journal).filter((what) => given.includes(what))).toEqual(given);
}

it('J13 R7 a chain that came to its end replays exactly, whatever was edited, killed and left behind on its way', {
  timeout: LIMIT_MS,
}, async () => {
  await runChains(3_000_000, { races: true, leftovers: true, edits: true }, async (chain) => {
    for (const run of chain.runs) expect(findNeedless(run.journal)).toEqual([]);
    expect(chain.last.end.how).toBe('done');
    await checkExact(chain);
  });
});

it('J13 with --match prefix, too, where nothing was left behind', { timeout: LIMIT_MS }, async () => {
  const answer = (prompt: string): string => `a:${createHash('sha256').update(prompt).digest('hex').slice(0, 8)}`;
  await runChains(4_000_000, { answer, edits: true, match: 'prefix' }, async (chain) => {
    expect(chain.last.end.how).toBe('done');
    await checkExact(chain);
  });
});
