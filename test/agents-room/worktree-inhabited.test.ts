/** Which processes have a folder as their working folder: by /proc, and by the `lsof` of systems without it; and the wait for them to go. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { needTool } from '../cli/support/need-tool.js';
import { waitUntilEmpty } from '../../src/agents/worktree/inhabited.js';
import { findByLsof, findProcessesIn } from '../../src/shared/processes-in.js';
import { makeTempFolder } from '../support/temp-folder.js';

/** Resolves when it is there and has written that it is. */
async function startIn(cwd: string): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', 'echo here; exec sleep 600'], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

it('those in the folder and below it are found, and no others', () => expectFound(findProcessesIn));

it('lsof finds the same', async (context) => {
  needTool(context, 'lsof', ['-v']);
  await expectFound(findByLsof);
});

async function expectFound(find: typeof findProcessesIn): Promise<void> {
  const root = makeTempFolder('processes');
  const [folder, beside] = [join(root, 'a b'), join(root, 'a b-2')];
  for (const path of [join(folder, 'deep'), beside]) mkdirSync(path, { recursive: true });
  expect(await find(folder)).toEqual([]);
  const [top, deep] = [await startIn(folder), await startIn(join(folder, 'deep'))];
  await startIn(beside);
  expect(await find(folder)).toEqual([top.pid as number, deep.pid as number].sort((a, b) => a - b));
  await end(top);
  expect(await find(folder)).toEqual([deep.pid]);
  await end(deep);
  expect(await find(folder)).toEqual([]);
}

it('what has been ended is waited for until it is gone, what stays only for a while', async () => {
  const folder = makeTempFolder('processes');
  const child = await startIn(folder);
  await waitUntilEmpty(folder, 50);
  expect(await findProcessesIn(folder)).toEqual([child.pid]);
  const waiting = waitUntilEmpty(folder, 60_000);
  child.kill('SIGKILL');
  await waiting;
  expect(await findProcessesIn(folder)).toEqual([]);
});
