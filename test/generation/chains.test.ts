/**
 * Proof by generation: random workflows × random orders of answers × kills at any byte of the journal × chains of up to
 * five resumes. WF_GENERATION_CASES sets how many (default 500), WF_TEST_SEED where they begin.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readWholeResult, scanJournal } from '../../src/journal/read-journal.js';
import { memorySource } from '../../src/journal/memory-store.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { generateScript } from './generate-script.js';
import { type ModelOptions, type ModelRun, planModel, runModel } from './model-run.js';
import { createReusableSandbox, type ReusableSandbox } from './reusable-sandbox.js';

const CASES = Number(process.env.WF_GENERATION_CASES ?? 500);
/** A case takes tens of milliseconds. */
const LIMIT_MS = 1_200_000 + CASES * 200;
const uuid = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

let sandbox: ReusableSandbox;
beforeAll(() => {
  sandbox = createReusableSandbox();
});
afterAll(() => sandbox.close());

/** Runs a chain of killed resumes and a last one to its end; checks what must hold of every run. */
async function runChain(seed: number, races: boolean, answer: ModelOptions['answer'] | undefined) {
  const random = seededRandom(seed);
  const script = generateScript(random, { races });
  let nonce = 0;
  const runs: ModelRun[] = [];
  const kills = Math.floor(random() * 5);
  let source: ModelOptions['source'];
  for (let k = 0; k <= kills; k++) {
    const runId = uuid(`${seed}.${k}`);
    const options: ModelOptions = {
      script: script.text,
      children: script.children,
      runId,
      source,
      random,
      answer: answer ?? (() => `r${++nonce}`),
      killAt: k < kills ? Math.floor(random() * 6000) : undefined,
      concurrency: random() < 0.3 ? 2 : 1000,
    };
    const plan = source === undefined ? undefined : await planModel(sandbox, options);
    const before = source === undefined ? undefined : Buffer.from(source.journal);
    const run = await runModel(sandbox, options);
    runs.push(run);
    if (plan !== undefined && source !== undefined) {
      expect(Buffer.compare(source.journal, before as Buffer)).toBe(0);
      checkPlan(plan, run);
    }
    checkJournal(run);
    source = { journal: run.journal, runId };
    if (!run.killed) break;
  }
  return { runs, last: runs.at(-1) as ModelRun, script };
}

function checkPlan(plan: Awaited<ReturnType<typeof planModel>>, run: ModelRun): void {
  const hits = plan.filter((call) => call.decision === 'hit').map((call) => call.n);
  const live = plan.filter((call) => call.decision === 'live').map((call) => call.n);
  const sorted = (list: number[]): number[] => [...list].sort((a, b) => a - b);
  // A kill may come before the first rest; what was seen until then must agree.
  if (run.killed && !run.rested) {
    for (const n of run.firstHits) expect(hits).toContain(n);
    for (const n of run.firstLive) expect(live).toContain(n);
    return;
  }
  expect(sorted(run.firstHits)).toEqual(sorted(hits));
  expect(sorted(run.firstLive)).toEqual(sorted(live));
}

/** Every line but a cut last one parses; a hit has the key of what it delivers; no answer is delivered twice. */
function checkJournal(run: ModelRun): void {
  const scan = scanJournal(memorySource(run.journal));
  const kept = new Map<number, string>();
  const delivered = new Set<number>();
  const places = new Set<number>();
  for (;;) {
    const next = scan.next();
    if (next.done) {
      expect(next.value.bad.length).toBeLessThanOrEqual(run.killed ? 1 : 0);
      return;
    }
    const line = next.value;
    if (line.type === 'script') continue;
    if (line.header.seq !== undefined) {
      expect(places.has(line.header.seq)).toBe(false);
      places.add(line.header.seq);
    }
    if (line.type === 'result' && line.header.kept !== undefined) kept.set(line.header.kept, line.header.key);
    if (line.type === 'hit') {
      expect(kept.get(line.header.of)).toBe(line.header.key);
      expect(delivered.has(line.header.of)).toBe(false);
      delivered.add(line.header.of);
    }
  }
}

/**
 * Answers whose line is whole in the journal: the run was killed after it had them. `made` has the key of each that this
 * run was charged for.
 */
function answersIn(journal: Buffer): { made: Map<string, string>; delivered: Set<string> } {
  const made = new Map<string, string>();
  const delivered = new Set<string>();
  const kept = new Map<number, string>();
  for (const line of scanJournal(memorySource(journal))) {
    if (line.type === 'result' && line.header.kind === 'ok') {
      const output = String(readWholeResult(line).output);
      if (line.header.kept === undefined) {
        made.set(output, line.header.key);
        delivered.add(output);
      } else kept.set(line.header.kept, output);
    } else if (line.type === 'hit') delivered.add(kept.get(line.header.of) as string);
  }
  return { made, delivered };
}

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
        const { runs, last } = await runChain(seed, seed % 2 === 1, undefined);
        expect(last.end.how).toBe('done');
        expect(findPaidTwice(runs, answersIn(last.journal).delivered)).toEqual([]);
      } catch (error) {
        throw new Error(`case of seed ${seed} (again: ${replay(seed)}): ${(error as Error).message}`, { cause: error });
      }
    }
  });

  test('an answer that its child workflow did not wait for is there for another call of its key', async () => {
    // Found by `npm run soak`.
    const { runs, last } = await runChain(30_007_581, true, undefined);
    expect(runs.length).toBeGreaterThan(1);
    expect(findPaidTwice(runs, answersIn(last.journal).delivered)).toEqual([]);
  });

  test('the result equals that of a run that was never interrupted', { timeout: LIMIT_MS }, async () => {
    const answer = (prompt: string): string => `a:${createHash('sha256').update(prompt).digest('hex').slice(0, 8)}`;
    for (let i = 0; i < Math.ceil(CASES / 4); i++) {
      const seed = testSeed() + 1_000_000 + i;
      try {
        const { last, script } = await runChain(seed, false, answer);
        const whole = await runModel(sandbox, {
          script: script.text,
          children: script.children,
          runId: uuid(`${seed}.whole`),
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
