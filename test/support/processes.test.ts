import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  descendantsOf,
  expectNoProcessesLeft,
  isAlive,
  killTree,
  listProcesses,
  processesMarked,
  readProcess,
} from './processes.js';

function start(file: string, args: string[], env: Record<string, string> = {}): number {
  const child = spawn(file, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore', detached: true });
  const pid = child.pid as number;
  onTestFinished(() => killTree(pid));
  return pid;
}

describe('processes', () => {
  it('finds a process by its environment, its command line and its working folder', async () => {
    const marker = `wf-marker-${process.pid}-${Date.now()}`;
    const byEnv = start('sleep', ['1000'], { WF_TEST_ID: marker });
    const byCommand = start('sh', ['-c', `sleep 1000; : ${marker}`]);
    await expect
      .poll(() => processesMarked([marker]).map((row) => row.pid))
      .toEqual(expect.arrayContaining([byEnv, byCommand]));
    const limit = { timeoutMs: 100 };
    await expect(expectNoProcessesLeft(marker, limit)).rejects.toThrow(new RegExp(`\\b${byEnv} .*sleep 1000`));
    killTree(byEnv);
    killTree(byCommand);
    await expectNoProcessesLeft(marker);
  });

  it('finds what stands below a process and ends all of it', async () => {
    const top = start('sh', ['-c', 'sh -c "sleep 1001; :"; :']);
    await expect.poll(() => descendantsOf(top).map((row) => row.command)).toContain('sleep 1001');
    const below = descendantsOf(top);
    expect(below).toHaveLength(2);
    killTree(top);
    await expect.poll(() => [top, ...below.map((row) => row.pid)].filter((pid) => isAlive(pid))).toEqual([]);
  });

  it('tells a process from another one that has its pid', () => {
    const self = readProcess(process.pid);
    expect(isAlive(process.pid, self?.startTime)).toBe(true);
    expect(isAlive(process.pid, '1')).toBe(false);
    expect(listProcesses().map((row) => row.pid)).toContain(process.pid);
  });
});
