/** Processes whose working folder is a given one or lies below it, as far as the system shows this user where they are. */
import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';

/** An `lsof` that hangs, as behind a network folder, is not waited for, ms. */
const LSOF_MS = 10_000;

/**
 * @param folder its real path
 * @returns pids in ascending order; none where it cannot be told: neither /proc nor `lsof`
 */
export async function findProcessesIn(folder: string): Promise<number[]> {
  return process.platform === 'linux' ? findByProc(folder) : findByLsof(folder);
}

function findByProc(folder: string): number[] {
  return listProc()
    .map(Number)
    .filter((pid) => pid > 0 && isWithin(folder, readFolderOf(pid)))
    .sort((a, b) => a - b);
}

function listProc(): string[] {
  try {
    return readdirSync('/proc');
  } catch {
    return [];
  }
}

/** Of other users' processes, and of those that have just ended, nothing is shown. */
function readFolderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** The way of systems without /proc. */
export async function findByLsof(folder: string): Promise<number[]> {
  const uid = process.getuid?.();
  const args = ['-w', '-n', '-P', '-a', '-d', 'cwd', ...(uid === undefined ? [] : ['-u', String(uid)]), '-F', 'pn'];
  let text: string;
  try {
    ({ stdout: text } = await promisify(execFile)('lsof', args, { timeout: LSOF_MS, maxBuffer: 16e6 }));
  } catch (error) {
    // It gives what it has found also where it complains of something.
    text = (error as { stdout?: string }).stdout ?? '';
  }
  const found: number[] = [];
  let pid = 0;
  for (const line of text.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    else if (line.startsWith('n') && isWithin(folder, line.slice(1))) found.push(pid);
  }
  return found.sort((a, b) => a - b);
}

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);
