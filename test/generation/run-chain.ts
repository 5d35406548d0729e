/** A chain of killed resumes and a last one to its end, from a seed; every run of it is checked against its plan and its journal. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { seededRandom } from '../support/seeds.js';
import { checkJournal, checkPlan, checkTimers } from './check-run.js';
import { type GeneratedScript, type GenerateOptions, generateScript } from './generate-script.js';
import { type ModelOptions, type ModelRun, planModel, runModel } from './model-run.js';
import type { ReusableSandbox } from './reusable-sandbox.js';

export interface ChainOptions extends GenerateOptions {
  /** Without it each answer is another text. */
  answer?: ModelOptions['answer'];
  /** Resumes are given the script as it was, with a call put in front, or another one, which shares some of its prompts. */
  edits?: boolean;
  match?: ModelOptions['match'];
}

export interface Chain {
  runs: ModelRun[];
  last: ModelRun;
  /** What the last run ran. */
  script: GeneratedScript;
  /** One more resume of the last run, which is unchanged. */
  again(): Promise<ModelRun>;
}

export const uuidOf = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const BEGIN = 'const out = []\n';

function edit(script: GeneratedScript, random: () => number, another: () => GeneratedScript): GeneratedScript {
  const what = random();
  if (what < 0.3) return another();
  if (what < 0.6) return script;
  return { ...script, text: script.text.replace(BEGIN, `await agent('in front ' + ${what})\n${BEGIN}`) };
}

export async function runChain(sandbox: ReusableSandbox, seed: number, given: ChainOptions): Promise<Chain> {
  const random = seededRandom(seed);
  let script = generateScript(random, given);
  let nonce = 0;
  const answer = given.answer ?? ((): string => `r${++nonce}`);
  const runs: ModelRun[] = [];
  const kills = Math.floor(random() * 5);
  const optionsOf = (k: number, source: ModelOptions['source']): ModelOptions => ({
    script: script.text,
    children: script.children,
    runId: uuidOf(`${seed}.${k}`),
    source,
    random,
    answer,
    match: given.match,
    killAt: k < kills ? Math.floor(random() * 6000) : undefined,
    concurrency: random() < 0.3 ? 2 : 1000,
  });
  let source: ModelOptions['source'];
  for (let k = 0; k <= kills; k++) {
    if (given.edits && k > 0) script = edit(script, random, () => generateScript(random, given));
    const options = optionsOf(k, source);
    const plan = source === undefined ? undefined : await planModel(sandbox, options);
    const before = source === undefined ? undefined : Buffer.from(source.journal);
    const run = await runModel(sandbox, options);
    runs.push(run);
    if (plan !== undefined && source !== undefined) {
      expect(Buffer.compare(source.journal, before as Buffer)).toBe(0);
      checkPlan(plan, run);
    }
    checkJournal(run);
    checkTimers(run);
    source = { journal: run.journal, runId: options.runId };
    if (!run.killed) break;
  }
  const again = async (): Promise<ModelRun> => {
    const run = await runModel(sandbox, { ...optionsOf(kills + 1, source), killAt: undefined });
    checkJournal(run);
    return run;
  };
  return { runs, last: runs.at(-1) as ModelRun, script, again };
}
