/** Which processes exist, who started them, and whether any was left behind. Reads /proc: Linux only. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { waitFor } from './wait.js';

export interface ProcessRow {
  pid: number;
  ppid: number;
  /** One letter; `Z` is a process that has ended and was not waited for. */
  state: string;
  /** Field 22 of /proc/<pid>/stat: with the pid, the identity of a process. */
  startTime: string;
  command: string;
}

/** Every process that has not ended. */
export function listProcesses(): ProcessRow[] {
  if (process.platform !== 'linux') throw new Error('The tests that look at processes read /proc: run them on Linux.');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? [])
    .filter((row) => row.state !== 'Z' && row.state !== 'X');
}

export function readProcess(pid: number): ProcessRow | undefined {
  const stat = readProc(pid, 'stat')?.toString('latin1');
  if (!stat) return undefined;
  // The name, in brackets, may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const words = readProc(pid, 'cmdline')?.toString().split('\0').join(' ').trim();
  const name = stat.slice(stat.indexOf('('), stat.lastIndexOf(')') + 1);
  return {
    pid,
    ppid: Number(fields[1]),
    state: fields[0] ?? '?',
    startTime: fields[19] ?? '',
    command: words || name,
  };
}

/** True while the process runs; with a start time, only for that very process and no later one of the same pid. */
export function isAlive(pid: number, startTime?: string): boolean {
  const row = readProcess(pid);
  return row !== undefined && row.state !== 'Z' && (startTime === undefined || row.startTime === startTime);
}

/** All processes below one, children before grandchildren. */
export function descendantsOf(pid: number, rows = listProcesses()): ProcessRow[] {
  const found: ProcessRow[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = rows.filter((row) => parents.has(row.ppid));
    found.push(...children);
    parents = new Set(children.map((row) => row.pid));
  }
  return found;
}

/**
 * Processes in whose environment, command line or working folder one of the texts stands. The folder of a test project
 * is such a text: it is in the `HOME` of everything that `wf` starts, in the working folder, or in the command line.
 */
export function processesMarked(markers: readonly string[]): ProcessRow[] {
  return listProcesses().filter((row) => row.pid !== process.pid && markers.some((marker) => isMarked(row, marker)));
}

/** Waits for the marked processes to end; the error names those that stay. */
export async function expectNoProcessesLeft(
  markers: string | readonly string[],
  options: { timeoutMs?: number } = {},
): Promise<void> {
  const texts = typeof markers === 'string' ? [markers] : markers;
  let left: ProcessRow[] = [];
  await waitFor(
    () => `these processes to end:\n${left.map(describeProcess).join('\n')}`,
    () => {
      left = processesMarked(texts);
      return left.length === 0;
    },
    { timeoutMs: options.timeoutMs ?? 5_000 },
  );
}

/** Ends a process and everything below it, at once. */
export function killTree(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  const below = descendantsOf(pid);
  for (const target of [pid, ...below.map((row) => row.pid)]) sendSignal(target, signal);
}

export function killMarked(markers: readonly string[]): ProcessRow[] {
  const rows = processesMarked(markers);
  for (const row of rows) sendSignal(row.pid, 'SIGKILL');
  return rows;
}

/** Sends a signal; false when the process is gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  // 0 and negative numbers mean whole groups, that of the tests among them.
  if (!(pid > 1)) throw new Error(`Not a process to signal: ${pid}`);
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

export const describeProcess = (row: ProcessRow): string =>
  `  ${row.pid} (parent ${row.ppid}, ${row.state}) ${row.command.slice(0, 300)}`;

function isMarked(row: ProcessRow, marker: string): boolean {
  return (
    row.command.includes(marker) ||
    workingFolderOf(row.pid)?.includes(marker) === true ||
    readProc(row.pid, 'environ')?.includes(marker) === true
  );
}

function workingFolderOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** A process may end between being listed and being read. */
function readProc(pid: number, name: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`);
  } catch {
    return undefined;
  }
}
