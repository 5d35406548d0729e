/**
 * Finds and ends all processes of a call. A call's leader has a session of its own, so what belongs to it is everything
 * below it and everything in its session or group, also after the leader itself is gone and its children were reparented.
 * Imports nothing of this package: the guard process loads this file alone.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  pid: number;
  ppid: number;
  pgid: number;
  /** Equal to `pgid` where the system does not tell sessions. */
  session: number;
  /** One letter; `Z` and `X` are processes that have ended. */
  state: string;
  /** The kernel's own mark: with the pid it names one process for as long as the system is up. */
  startTime: string;
}

export interface TreeOptions {
  /** Start time of the leader. When its pid belongs to another process by now, the tree is empty. */
  startTime?: string | null | undefined;
  /** Members seen earlier (pid → start time): their own sessions and children belong to the tree too. */
  known?: ReadonlyMap<number, string>;
}

const MAX_PASSES = 20;

/** The live members of the tree of `pid`, itself included, from one look at the process table. */
export function listProcessTree(pid: number, options: TreeOptions = {}): ProcessEntry[] {
  // 0 and 1 are never ours, and as a group or session number they would name half of the system.
  if (!Number.isSafeInteger(pid) || pid <= 1) return [];
  const table = readProcessTable();
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  const isReused = (number: number, startTime: string | null | undefined): boolean =>
    typeof startTime === 'string' && (byPid.get(number)?.startTime ?? startTime) !== startTime;

  const roots = new Set<number>();
  if (!isReused(pid, options.startTime)) roots.add(pid);
  for (const [number, startTime] of options.known ?? []) if (!isReused(number, startTime)) roots.add(number);
  for (let size = -1; size !== roots.size; ) {
    size = roots.size;
    for (const { pid: number, ppid, pgid, session } of table) {
      if (roots.has(ppid) || roots.has(pgid) || roots.has(session)) roots.add(number);
    }
  }
  return table.filter((entry) => roots.has(entry.pid) && entry.pid !== process.pid && !hasEnded(entry));
}

/**
 * Sends a signal to every member of the tree. With SIGKILL it looks again until nothing new turns up, so that a member
 * that was forking meanwhile does not escape.
 *
 * @returns the members that got the signal
 */
export function killProcessTree(pid: number, signal: NodeJS.Signals, options: TreeOptions = {}): ProcessEntry[] {
  const signalled = new Map<number, string>(options.known ?? []);
  const done: ProcessEntry[] = [];
  const sent = new Set<number>();
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const fresh = listProcessTree(pid, { ...options, known: signalled }).filter((entry) => !sent.has(entry.pid));
    if (fresh.length === 0) break;
    for (const entry of fresh) {
      sent.add(entry.pid);
      signalled.set(entry.pid, entry.startTime);
      if (sendSignal(entry.pid, signal)) done.push(entry);
    }
    if (signal !== 'SIGKILL') break;
  }
  return done;
}

/** False when there is no such process (group, for a negative number) or it is not ours. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

export const hasEnded = (entry: ProcessEntry): boolean => entry.state === 'Z' || entry.state === 'X';

/** One process, or `undefined` when there is none that this process may see. */
export function readProcess(pid: number): ProcessEntry | undefined {
  if (process.platform === 'linux') return readProcStat(String(pid));
  return readTableByPs(['-p', String(pid)])[0];
}

function readProcessTable(): ProcessEntry[] {
  if (process.platform !== 'linux') return readTableByPs(['-A']);
  const table: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const first = name.charCodeAt(0);
    if (first < 48 || first > 57) continue;
    const entry = readProcStat(name);
    if (entry) table.push(entry);
  }
  return table;
}

function readProcStat(pid: string): ProcessEntry | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The command, in brackets, may itself hold spaces and brackets. Field 3 (state) comes first after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid: Number(pid),
    state: fields[0] ?? '?',
    ppid: Number(fields[1]),
    pgid: Number(fields[2]),
    session: Number(fields[3]),
    startTime: fields[19] ?? '',
  };
}

/** The way of systems without /proc. `lstart` must not depend on anybody's language or time zone. */
export function readTableByPs(which: readonly string[]): ProcessEntry[] {
  let text: string;
  try {
    text = execFileSync('ps', [...which, '-o', 'pid=,ppid=,pgid=,stat=,lstart='], {
      env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
      encoding: 'latin1',
      maxBuffer: 16e6,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return [];
  }
  const table: ProcessEntry[] = [];
  for (const line of text.split('\n')) {
    const [pid, ppid, pgid, stat, ...start] = line.trim().split(/\s+/);
    if (!pid || !stat) continue;
    const group = Number(pgid);
    const startTime = start.join(' ');
    table.push({ pid: Number(pid), ppid: Number(ppid), pgid: group, session: group, state: stat.charAt(0), startTime });
  }
  return table;
}
