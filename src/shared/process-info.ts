/** What the system says about one process and about itself. Everything is synchronous and answers `null` where it cannot know. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { systemCode } from './errors.js';
import { hasEnded, readProcess } from './process-tree.js';

/**
 * The kernel's mark of a process: clock ticks since boot on Linux, a date elsewhere. Compare it only for equality.
 * `null` when there is no such process.
 */
export function processStartTime(pid: number): string | null {
  return readProcess(pid)?.startTime || null;
}

/**
 * True while the process runs; with a start time, only for that very process and no later one of the same pid.
 * A process that has ended but was not waited for (zombie) is dead.
 */
export function isProcessAlive(pid: number, startTime?: string | null): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  const entry = readProcess(pid);
  if (entry) return !hasEnded(entry) && (startTime == null || entry.startTime === startTime);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process that /proc hides: it exists, and more cannot be told.
    return systemCode(error) === 'EPERM';
  }
}

let cachedBootId: string | null | undefined;

/** Names the time since the last boot; start times and pids mean nothing across two of them. */
export function bootId(): string | null {
  cachedBootId ??= readBootId();
  return cachedBootId;
}

function readBootId(): string | null {
  try {
    if (process.platform === 'linux') return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || null;
    return printedBy('sysctl', '-n', 'kern.bootsessionuuid') || null;
  } catch {
    return null;
  }
}

/** Names the set of pids that this process sees, so that one container's pid is not looked for in another. `null` off Linux. */
export function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

export const hostName = (): string => hostname();

/** The user in whose name a process acts now, which decides whose signals reach it; `null` where it is gone or cannot be told. */
export function processUser(pid: number): number | null {
  try {
    const text =
      process.platform === 'linux'
        ? /^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
        : printedBy('ps', '-o', 'uid=', '-p', String(pid));
    return text ? Number(text) : null;
  } catch {
    return null;
  }
}

/** Resident memory in bytes; `null` when the process is gone. */
export function rssBytes(pid: number): number | null {
  try {
    if (process.platform === 'linux') {
      const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
      return kilobytes === undefined ? null : Number(kilobytes) * 1024;
    }
    return Number(printedBy('ps', '-o', 'rss=', '-p', String(pid))) * 1024 || null;
  } catch {
    return null;
  }
}

const printedBy = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
