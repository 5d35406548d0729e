import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import {
  bootId,
  hostName,
  isProcessAlive,
  pidNamespace,
  processStartTime,
  rssBytes,
} from '../../src/shared/process-info.js';
import { killProcessTree, listProcessTree, readProcess, readTableByPs } from '../../src/shared/process-tree.js';
import { waitFor } from '../support/wait.js';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) if (child.pid) killProcessTree(child.pid, 'SIGKILL');
});

/** Starts a program in a session of its own and waits for its first line. */
async function start(file: string, args: string[]): Promise<{ child: ChildProcess; pid: number; line: string }> {
  const child = spawn(file, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  const [data] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { child, pid: child.pid as number, line: data.toString().trim() };
}

const gone = (pids: number[]) => waitFor(`${pids} to be gone`, () => pids.every((pid) => !isProcessAlive(pid)));

test('the tree holds children, own groups, own sessions and nothing else', async () => {
  // Job control gives the first sleep a group of its own, setsid the second a session of its own.
  const { pid, line } = await start('bash', [
    '-c',
    'set -m; sleep 61 & a=$!; set +m; setsid sleep 62 & b=$!; sleep 63 & echo $a $b $!; wait',
  ]);
  const pids = line.split(' ').map(Number);
  await waitFor('the own session', () => readProcess(pids[1] as number)?.session === pids[1]);
  expect(new Set(listProcessTree(pid).map((entry) => entry.pid))).toEqual(new Set([pid, ...pids]));
  expect(listProcessTree(pid).some((entry) => entry.pid === process.pid)).toBe(false);

  const signalled = killProcessTree(pid, 'SIGKILL');
  expect(signalled).toHaveLength(4);
  await gone([pid, ...pids]);
  expect(listProcessTree(pid)).toEqual([]);
});

test('members of the session are found after their leader has gone and they were reparented', async () => {
  const { child, pid, line } = await start('bash', ['-c', 'set -m; sleep 64 & sleep 65 & echo $(jobs -p); wait']);
  const startTime = processStartTime(pid);
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  const pids = line.split(' ').map(Number);
  expect(readProcess(pids[0] as number)?.ppid).not.toBe(pid);
  expect(listProcessTree(pid, { startTime }).map((entry) => entry.pid)).toEqual(pids);
  killProcessTree(pid, 'SIGKILL', { startTime });
  await gone(pids);
});

test('a member with a session of its own, seen earlier, is found after its parent has gone', async () => {
  const { pid, line } = await start('bash', ['-c', 'setsid sleep 66 & echo $!; wait']);
  const sleeper = Number(line);
  await waitFor('the own session', () => readProcess(sleeper)?.session === sleeper);
  const known = new Map(listProcessTree(pid).map((entry) => [entry.pid, entry.startTime]));
  process.kill(pid, 'SIGKILL');
  await gone([pid]);
  expect(listProcessTree(pid)).toEqual([]);
  expect(listProcessTree(pid, { known }).map((entry) => entry.pid)).toEqual([sleeper]);
  killProcessTree(pid, 'SIGKILL', { known });
  await gone([sleeper]);
});

test('a pid that belongs to another process by now is left alone', async () => {
  const { pid } = await start('bash', ['-c', 'echo up; exec sleep 67']);
  expect(listProcessTree(pid, { startTime: 'another' })).toEqual([]);
  expect(killProcessTree(pid, 'SIGKILL', { startTime: 'another' })).toEqual([]);
  expect(isProcessAlive(pid)).toBe(true);
});

test('pids that name half of the system are refused', () => {
  for (const pid of [0, 1, -1, Number.NaN, 1.5]) expect(listProcessTree(pid)).toEqual([]);
});

test('a process that forks while it is being killed does not escape', async () => {
  const { pid } = await start('bash', ['-c', 'echo up; while :; do (sleep 68 & sleep 68 &) ; done']);
  await waitFor('some children', () => listProcessTree(pid).length > 20);
  killProcessTree(pid, 'SIGKILL');
  await waitFor('the end of all', () => listProcessTree(pid).length === 0, { timeoutMs: 3_000 });
});

test('start time and liveness; a zombie is dead', async () => {
  const { pid, line } = await start('bash', ['-c', 'sleep 0.01 & echo $!; exec sleep 69']);
  const zombie = Number(line);
  await waitFor('the zombie', () => readProcess(zombie)?.state === 'Z');
  expect(isProcessAlive(zombie)).toBe(false);
  const startTime = processStartTime(pid);
  expect(startTime).toMatch(/^\d+$/);
  expect(isProcessAlive(pid, startTime)).toBe(true);
  expect(isProcessAlive(pid, '1')).toBe(false);
  expect(isProcessAlive(process.pid)).toBe(true);
  expect(processStartTime(2 ** 22 + 1)).toBeNull();
  expect(isProcessAlive(2 ** 22 + 1)).toBe(false);
  expect(isProcessAlive(-5)).toBe(false);
});

test('the host is told by stable words', () => {
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
  expect(bootId()).toBe(bootId());
  expect(pidNamespace()).toMatch(/^pid:\[\d+\]$/);
  expect(hostName()).not.toBe('');
  expect(rssBytes(process.pid)).toBeGreaterThan(10e6);
  expect(rssBytes(2 ** 22 + 1)).toBeNull();
});

test('ps tells the same tree, for systems without /proc', async () => {
  const { pid } = await start('bash', ['-c', 'sleep 70 & echo up; wait']);
  const entry = readTableByPs(['-A']).find((row) => row.pid === pid);
  expect(entry).toMatchObject({ pid, ppid: process.pid, pgid: pid });
  expect(entry?.startTime).toMatch(/^\w{3} \w{3} \d+ [\d:]+ \d{4}$/);
  expect(readTableByPs(['-p', String(pid)])).toHaveLength(1);
  expect(readTableByPs(['-A']).filter((row) => row.ppid === pid)).toHaveLength(1);
});
