/** Small steps that the tests of resumes share. */
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { RunSummary } from '../../../src/index.js';
import { type JournalLine, journalFile, readJournal } from '../../support/journal.js';
import { sendSignal } from '../../support/processes.js';
import { runWf, type WfHandle, type WfOptions, type WfResult } from '../../support/run-wf.js';
import type { TestProject } from '../../support/temp-project.js';
import { waitFor } from '../../support/wait.js';

export interface EndedRun extends WfResult {
  id: string;
  /** What it returned: JSON where it is, else the text. */
  result: unknown;
  state: { status: string; counts: Record<string, number>; [field: string]: unknown };
}

/** Runs `wf run …` to its end and reads what it left. */
export async function run(
  project: TestProject,
  args: readonly string[],
  options: Partial<WfOptions> = {},
): Promise<EndedRun> {
  const ended = await runWf(['run', ...args], { timeoutMs: 60_000, ...options, project });
  const id = idOf(ended.stderr);
  const state = JSON.parse(readFileSync(join(project.runDir(id), 'state.json'), 'utf8'));
  return { ...ended, id, result: readResult(ended.stdout), state };
}

/** The rows of `wf ls`, the newest first. */
export async function listRuns(project: TestProject, options: Partial<WfOptions> = {}): Promise<RunSummary[]> {
  const { stdout } = await runWf(['ls', '--json'], { ...options, project });
  return JSON.parse(stdout) as RunSummary[];
}

/** The id of the new run: it stands in the first line that a run prints. */
export function idOf(stderr: string): string {
  const found = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/.exec(stderr);
  if (!found) throw new Error(`No run id in:\n${stderr}`);
  return found[0];
}

/** SIGKILL for `wf` and all below it; resolves with the run's id when it is gone. */
export async function killRun(handle: WfHandle): Promise<string> {
  handle.killTree();
  await handle.done;
  return idOf(handle.stderr);
}

/** SIGKILL for `wf` and its guard at once, so that nobody ends the agents. */
export async function killWithGuard(project: TestProject, handle: WfHandle, id: string): Promise<void> {
  const guard = await waitFor('the guard in run.json', () => {
    const record = JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8'));
    return record.guard as { pid: number } | undefined;
  });
  sendSignal(guard.pid, 'SIGKILL');
  handle.kill('SIGKILL');
  await handle.exited;
}

/** What a run printed: JSON where it is, else the text. */
export function readResult(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    return stdout.replace(/\n$/, '');
  }
}

/** The journal of a run, read strictly. */
export const linesOf = (project: TestProject, id: string): JournalLine[] =>
  readJournal(journalFile(project, id) as string);

/** Results that the run itself made, in order. */
export const madeIn = (project: TestProject, id: string): JournalLine[] =>
  linesOf(project, id).filter((line) => line.type === 'result' && line.kept === undefined);

export const hitsIn = (project: TestProject, id: string): JournalLine[] =>
  linesOf(project, id).filter((line) => line.type === 'hit');

/** Every file and folder below one: content, mode, size and times to the nanosecond. */
export function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string, name: string): void => {
    const stat = statSync(path, { bigint: true });
    const about = `${stat.mode} ${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}`;
    if (!stat.isDirectory()) {
      found[name] = `${about} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
      return;
    }
    found[name] = about;
    for (const entry of readdirSync(path).sort()) visit(join(path, entry), `${name}/${entry}`);
  };
  visit(folder, '.');
  return found;
}

/** A copy of the whole project, elsewhere below its root, with links and times kept. */
export function copyProject(project: TestProject): string {
  const copy = join(project.root, 'copy');
  mkdirSync(copy);
  cpSync(project.dir, copy, { recursive: true, preserveTimestamps: true });
  return copy;
}
