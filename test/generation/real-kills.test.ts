/**
 * Generated workflows again, with everything real: the command in its own processes, agents of the shell, and SIGKILL
 * for the supervisor, for the sandbox, or for all at once, at any length of the journal.
 * WF_GENERATION_REAL sets how many (default 10), WF_TEST_SEED where they begin.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ResumePlan } from '../../src/index.js';
import { openFileSource } from '../../src/journal/file-store.js';
import { readWholeResult, scanJournal } from '../../src/journal/read-journal.js';
import { sandboxOf } from '../cli/cli-kit.js';
import { idOf, snapshot } from '../cli/support/runs.js';
import { makeShellAgent, type ShellAgent } from '../cli/support/shell-agent.js';
import { runWf, startWf, type WfResult } from '../support/run-wf.js';
import { seededRandom, testSeed } from '../support/seeds.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { generateScript } from './generate-script.js';

const CASES = Number(process.env.WF_GENERATION_REAL ?? 10);
const LIMIT_MS = 120_000;

interface Case {
  project: TestProject;
  agent: ShellAgent;
  random: () => number;
  /** Run ids of the chain, in order. */
  chain: string[];
}

type Victim = 'supervisor' | 'sandbox' | 'all' | 'nobody';

async function runChain(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const races = seed % 2 === 1;
  const script = generateScript(random, { races, depth: 1 });
  const project = makeProject({
    files: {
      'flow.js': script.text,
      '.claude/workflows/.keep': '',
      ...Object.fromEntries(
        Object.entries(script.children).map(([name, text]) => [`.claude/workflows/${name}.js`, text]),
      ),
    },
  });
  // With races each execution answers with its own number, so that a second one is seen; without, always the same.
  const reply = races ? 'r$$' : 'a$(printf %s $prompt | cksum | cut -c1-6)';
  const agent = makeShellAgent(project, { '*': { reply, delay: 0.01 } });
  const found: Case = { project, agent, random, chain: [] };
  const kills = 1 + Math.floor(random() * 4);
  let last: WfResult | undefined;
  let sealed: Record<string, unknown> = {};
  for (let k = 0; k <= kills; k++) {
    const victim: Victim =
      k === kills ? 'nobody' : ((['supervisor', 'sandbox', 'all'] as const)[Math.floor(random() * 3)] ?? 'all');
    const source = found.chain.at(-1);
    const plan = victim === 'nobody' && source !== undefined ? await planOf(project, source) : undefined;
    last = await runOne(found, victim, source);
    for (const [id, before] of Object.entries(sealed))
      expect(snapshot(project.runDir(id)), `run ${id}`).toEqual(before);
    checkJournal(found, found.chain.at(-1) as string);
    if (plan !== undefined) checkPlan(project, plan, found.chain.at(-1) as string);
    if (last.code === 0) break;
    sealed = Object.fromEntries(found.chain.map((id) => [id, snapshot(project.runDir(id))]));
  }
  expect([last?.code, last?.stderr.slice(-600)]).toEqual([0, expect.anything()]);
  checkAnswers(found);
  if (races) return;
  const whole = await runWf(['run', 'flow.js', ...agent.flags], { project, timeoutMs: LIMIT_MS });
  expect(last?.stdout).toBe(whole.stdout);
}

async function runOne({ project, agent, random, chain }: Case, victim: Victim, source?: string): Promise<WfResult> {
  const args = source === undefined ? ['run', 'flow.js', ...agent.flags] : ['run', '--resume-from', source];
  const handle = startWf([...args, '--concurrency', random() < 0.3 ? '2' : '16'], { project, timeoutMs: LIMIT_MS });
  const id = idOf((await handle.waitForStderr(/run \S+ started/, LIMIT_MS))[0]);
  chain.push(id);
  if (victim === 'nobody') return await handle.done;
  const journal = join(project.runDir(id), 'journal.jsonl');
  const from = statSync(journal).size;
  const bytes = Math.floor(random() * random() * 8_000);
  await waitFor('the journal to grow', () => handle.ended || statSync(journal).size >= from + bytes || undefined, {
    timeoutMs: LIMIT_MS,
    watch: [project.runDir(id)],
  });
  if (victim === 'all') handle.killTree();
  else if (victim === 'supervisor') handle.kill('SIGKILL');
  else killSandbox(handle.pid);
  return await handle.done;
}

function killSandbox(pid: number): void {
  try {
    process.kill(sandboxOf(pid).pid, 'SIGKILL');
  } catch {
    // The run had ended.
  }
}

async function planOf(project: TestProject, source: string): Promise<ResumePlan> {
  const { code, stdout, stderr } = await runWf(['plan', '--resume-from', source, '--json'], { project });
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return JSON.parse(stdout);
}

/** By the account of the run: hits before the first dispatch, and the calls that were queued with it. */
function checkPlan(project: TestProject, plan: ResumePlan, id: string): void {
  const hits: number[] = [];
  const live: number[] = [];
  for (const line of readFileSync(join(project.runDir(id), 'events.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)) {
    const event = JSON.parse(line) as { type: string; n: number; reused?: boolean };
    if (event.type === 'call.queued') live.push(event.n);
    else if (event.type === 'call.finished' && event.reused !== true) break;
    else if (event.type === 'call.finished') hits.push(event.n);
  }
  const named = (decision: string): number[] =>
    plan.calls.filter((call) => call.decision === decision).map((call) => call.n);
  const sorted = (list: number[]): number[] => [...list].sort((a, b) => a - b);
  expect(sorted(hits)).toEqual(named('hit'));
  // No plan knows what the script asks for once a timer has fired: that is queued behind what the plan names.
  const children = join('.claude', 'workflows');
  const scripts = ['flow.js', ...readdirSync(join(project.dir, children)).map((name) => join(children, name))];
  const hasTimers = scripts.some((file) => readFileSync(join(project.dir, file), 'utf8').includes('setTimeout'));
  expect(sorted(hasTimers ? live.slice(0, named('live').length) : live)).toEqual(named('live'));
}

/** Every line but a cut one parses, and a hit has the key of what it delivers. */
function checkJournal({ project }: Case, id: string): void {
  const source = openFileSource(join(project.runDir(id), 'journal.jsonl'));
  const kept = new Map<number, string>();
  const delivered = new Set<number>();
  const scan = scanJournal(source);
  for (;;) {
    const next = scan.next();
    if (next.done) {
      expect(next.value.bad.length).toBeLessThanOrEqual(1);
      break;
    }
    const line = next.value;
    if (line.type === 'result' && line.header.kept !== undefined) kept.set(line.header.kept, line.header.key);
    if (line.type !== 'hit') continue;
    expect(kept.get(line.header.of)).toBe(line.header.key);
    expect(delivered.has(line.header.of)).toBe(false);
    delivered.add(line.header.of);
  }
  source.close();
}

/** An answer that was ever on record is what the last run was given; whatever it was given, the ledger knows. */
function checkAnswers({ project, agent, chain }: Case): void {
  const recorded = new Map<string, string[]>();
  let used: string[] = [];
  let made = 0;
  for (const id of chain) {
    const source = openFileSource(join(project.runDir(id), 'journal.jsonl'));
    const kept = new Map<number, string>();
    used = [];
    for (const line of scanJournal(source)) {
      if (line.type === 'hit') used.push(kept.get(line.header.of) as string);
      if (line.type !== 'result' || line.header.kind !== 'ok') continue;
      const answer = `${line.header.key} ${readWholeResult(line).output}`;
      if (line.header.kept !== undefined) kept.set(line.header.kept, answer);
      else {
        made++;
        used.push(answer);
        recorded.set(answer, [...(recorded.get(answer) ?? []), id]);
      }
    }
    source.close();
  }
  const count = (list: string[], item: string): number => list.filter((other) => other === item).length;
  for (const [answer, runs] of recorded) expect(count(used, answer), answer).toBe(runs.length);
  expect(used).toHaveLength(made);
  // What was recorded was executed; more executions than that are those that were cut off.
  expect(agent.lines('ok').length).toBeGreaterThanOrEqual(made);
}

const seeds = Array.from({ length: CASES }, (_, i) => testSeed() + 2_000_000 + i);
it.each(seeds.map((seed) => [seed]))(
  'B-001 J13 R7 a chain of runs whose processes are killed loses no answer and pays none twice (seed %i)',
  async (seed) => {
    try {
      await runChain(seed);
    } catch (error) {
      const again = `WF_TEST_SEED=${seed - 2_000_000} WF_GENERATION_REAL=1 npx vitest run test/generation/real-kills.test.ts`;
      throw new Error(`seed ${seed} (again: ${again}): ${(error as Error).message}`, { cause: error });
    }
  },
  300_000,
);
