import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startGuard } from '../../src/agents/guard/start-guard.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { killProcessTree, readProcess } from '../../src/shared/process-tree.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { waitFor } from '../support/wait.js';

let folder: string;
const toKill: number[] = [];
beforeEach(() => {
  folder = makeTempFolder('guard');
});
afterEach(() => {
  for (const pid of toKill.splice(0)) killProcessTree(pid, 'SIGKILL');
});

/** An agent with a child and a grandchild of its own session; gives all pids. */
async function startAgent(): Promise<{ child: ChildProcess; pids: number[] }> {
  const script = `setsid sleep 81 & a=$!; sleep 82 & echo $$ $a $!; wait`;
  const child = spawn('bash', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  toKill.push(child.pid as number);
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const pids = line.toString().trim().split(' ').map(Number);
  await waitFor('the own session', () => readProcess(pids[1] as number)?.session === pids[1]);
  return { child, pids };
}

const alive = (pids: number[]): number[] => pids.filter((pid) => isProcessAlive(pid));

test('nothing is started before the first watch', async () => {
  const guard = startGuard({ nodePath: process.execPath });
  expect(guard.pid).toBeUndefined();
  await guard.close();
  expect(guard.pid).toBeUndefined();
});

test('a clean end leaves the watched processes alone', async () => {
  const { pids } = await startAgent();
  const guard = startGuard({ nodePath: process.execPath });
  guard.watch(pids[0] as number);
  const { pid } = guard;
  expect(isProcessAlive(pid as number)).toBe(true);
  expect(readProcess(pid as number)?.session).toBe(pid);
  await guard.close();
  expect(isProcessAlive(pid as number)).toBe(false);
  expect(alive(pids)).toEqual(pids);
});

/** An engine of its own: watches what it is told, forgets what it is told, and waits to be killed. */
function startEngine(watch: number[], forget: number[]): ChildProcess {
  const file = join(folder, 'engine.mjs');
  const guard = join(import.meta.dirname, '..', '..', 'src', 'agents', 'guard', 'start-guard.ts');
  const hooks = join(import.meta.dirname, '..', 'support', 'source-hooks.mjs');
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs';
     const { startGuard } = await import(${JSON.stringify(pathToFileURL(guard).href)});
     const guard = startGuard({ nodePath: process.execPath });
     for (const pid of ${JSON.stringify(watch)}) guard.watch(pid);
     for (const pid of ${JSON.stringify(forget)}) guard.forget(pid);
     writeFileSync(${JSON.stringify(join(folder, 'guard-pid'))}, String(guard.pid));
     setInterval(() => {}, 1e6);`,
  );
  return spawn(process.execPath, ['--import', pathToFileURL(hooks).href, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

const guardPid = (): Promise<number> =>
  waitFor('the guard', () => {
    const path = join(folder, 'guard-pid');
    return (existsSync(path) && Number(readFileSync(path, 'utf8'))) || undefined;
  });

test('an engine killed by SIGKILL: the trees of its agents are gone within 2 s, what it forgot stays (B-089)', async () => {
  const agents = [await startAgent(), await startAgent()];
  const kept = await startAgent();
  const engine = startEngine(
    [...agents, kept].map(({ pids }) => pids[0] as number),
    [kept.pids[0] as number],
  );
  const guard = await guardPid();
  const killed = performance.now();
  engine.kill('SIGKILL');
  await waitFor('the end of the trees', () => alive(agents.flatMap(({ pids }) => pids)).length === 0, {
    timeoutMs: 5_000,
  });
  expect(performance.now() - killed).toBeLessThan(2_000);
  await waitFor('the end of the guard', () => !isProcessAlive(guard), { timeoutMs: 2_000 });
  expect(alive(kept.pids)).toEqual(kept.pids);
});

test('an agent whose leader has gone: the rest of its session goes too', async () => {
  const { child, pids } = await startAgent();
  const engine = startEngine([pids[0] as number], []);
  await guardPid();
  child.kill('SIGKILL');
  await waitFor('the end of the leader', () => !isProcessAlive(pids[0] as number));
  engine.kill('SIGKILL');
  await waitFor('the end of the session', () => !isProcessAlive(pids[2] as number), { timeoutMs: 2_000 });
  // What had a session of its own and lost its parent is outside of the guard's power.
  process.kill(pids[1] as number, 'SIGKILL');
});

test('signals that end the engine do not end the guard', async () => {
  const { pids } = await startAgent();
  const engine = startEngine([pids[0] as number], []);
  const guard = await guardPid();
  await waitFor('its handlers', () => [1, 2, 15].every((signal) => caught(guard, signal)));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(guard, signal);
  engine.kill('SIGKILL');
  await waitFor('the end of the tree', () => alive(pids).length === 0, { timeoutMs: 2_000 });
});

/** True when the process has a handler for the signal. */
function caught(pid: number, signal: number): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & (1n << BigInt(signal - 1))) !== 0n;
}

test('a pid that belongs to another process by now is left alone', async () => {
  const { pids } = await startAgent();
  const main = join(import.meta.dirname, '..', '..', 'src', 'agents', 'guard', 'guard-main.ts');
  const trees = pathToFileURL(join(import.meta.dirname, '..', '..', 'src', 'shared', 'process-tree.ts')).href;
  const guard = spawn(process.execPath, [main, trees], { stdio: ['pipe', 'ignore', 'inherit'] });
  // Another start time, a line without one, a line that was cut off.
  guard.stdin.end(`+${pids[0]} 1\n+${pids[0]}\n+${pids[0]}`);
  await once(guard, 'exit');
  expect(alive(pids)).toEqual(pids);
});

test('a guard that was killed is started anew by the next watch, with all that is watched', async () => {
  const first = await startAgent();
  const second = await startAgent();
  const guard = startGuard({ nodePath: process.execPath });
  guard.watch(first.pids[0] as number);
  const before = guard.pid as number;
  process.kill(before, 'SIGKILL');
  await waitFor('the end of the guard', () => guard.pid === undefined);
  guard.forget(12345);
  guard.watch(second.pids[0] as number);
  expect(guard.pid).not.toBe(before);
  await guard.close();
});
