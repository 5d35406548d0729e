/** What the tests of the command share: scripts to run, and what a run has left on the disk and in the process table. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type JournalLine, readJournal } from '../support/journal.js';
import { descendantsOf, isAlive, type ProcessRow, readProcess } from '../support/processes.js';
import type { TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';

/** A workflow with this body, which begins on line 2. */
export const workflow = (body: string, name = 'flow'): string =>
  `export const meta = { name: '${name}', description: 'Made by a test' };\n${body}\n`;

const IN_SEQUENCE = `const a = await agent('do A', { label: 'A' })
const b = await agent('do B', { label: 'B' })
const c = await agent('do C', { label: 'C' })
return { a, b, c }`;

/** S3s of the requirements: three calls in sequence. */
export const THREE = workflow(IN_SEQUENCE);
/** The same under a name of its own. */
export const S3 = workflow(IN_SEQUENCE, 'three');
/** P3 of the requirements: three calls at once. */
export const P3 = workflow(
  "return await parallel(['A', 'B', 'C'].map((x) => () => agent('do ' + x, { label: x })))",
  'fan',
);

/** Flags that make the mock backend answer, and nothing but trouble be told. */
export const MOCK = ['--backend', 'mock', '-q'];

export function newestRun(project: TestProject): string {
  const id = project.runIds().at(-1);
  if (id === undefined) throw new Error(`No run in ${project.runsDir}`);
  return id;
}

export interface State {
  status: string;
  cause: string;
  exitCode: number;
  result?: unknown;
  error?: { code: string; message: string; line?: number; column?: number };
  counts: Record<string, number>;
  failures: { label: string; status: string; code: string }[];
  journal: { complete: boolean; bytes: number };
  notices: string[];
  [field: string]: unknown;
}

/** `state.json` of a run, by default of the newest. */
export const readState = (project: TestProject, runId = newestRun(project)): State =>
  JSON.parse(readFileSync(join(project.runDir(runId), 'state.json'), 'utf8')) as State;

export const hasState = (project: TestProject, runId = newestRun(project)): boolean =>
  existsSync(join(project.runDir(runId), 'state.json'));

const readLines = (project: TestProject, runId = newestRun(project)): JournalLine[] =>
  readJournal(join(project.runDir(runId), 'journal.jsonl'));

/** Labels of the recorded answers, in the order of the journal. */
export const answeredLabels = (project: TestProject, runId?: string): (string | undefined)[] =>
  readLines(project, runId)
    .filter((line) => line.type === 'result' && line.kind === 'ok')
    .map((line) => line.label);

/** Everything that stands below a process now: sandbox, guard, agents. Kept to see later that each is gone. */
export const familyOf = (pid: number): ProcessRow[] => descendantsOf(pid);

/** The sandbox process of a running `wf`. */
export function sandboxOf(pid: number): ProcessRow {
  const row = familyOf(pid).find(({ command }) => command.includes('sandbox.cjs'));
  if (row === undefined) throw new Error(`No sandbox below ${pid}`);
  return row;
}

/** Each of these very processes ends within the time. */
export async function expectAllGone(rows: readonly ProcessRow[], timeoutMs = 5_000): Promise<void> {
  expect(rows.length).toBeGreaterThan(0);
  const left = () => rows.filter((row) => isAlive(row.pid, row.startTime));
  await waitFor(
    () =>
      `these to end:\n${left()
        .map((row) => `${row.pid} ${row.command}`)
        .join('\n')}`,
    () => left().length === 0,
    { timeoutMs },
  );
}

/** Waits until a process has worked for that many ms: the sign of a script that loops. */
export async function waitUntilBusy(pid: number, ms = 300): Promise<void> {
  const start = cpuMs(pid);
  await waitFor(`process ${pid} to work for ${ms} ms`, () => cpuMs(pid) - start >= ms);
}

function cpuMs(pid: number): number {
  if (readProcess(pid) === undefined) throw new Error(`Process ${pid} is gone`);
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // 100 ticks a second on every Linux that Node runs on.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resolves once so many ms have passed since `start` (`performance.now()`): signals closer than 150 ms are one. */
export const waitUntilLater = (start: number, ms: number): Promise<true> =>
  waitFor(`${ms} ms to pass`, () => performance.now() - start >= ms || undefined);
