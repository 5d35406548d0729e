/** Limits of open files and of processes, as small machines and containers have them. */
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { needTool } from './support/need-tool.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { readResult } from './support/runs.js';
import { isolatedFan, makeRepository, SHELL } from './support/worktrees.js';

const WIDE = 24;
const scriptOf = (prompt: string): string => `export const meta = { name: 'wide', description: 'many at once' }
return (await parallel(Array.from({ length: ${WIDE} }, (_, i) => () => agent('${prompt} ' + i, { label: 'p' + i })))).filter((x) => x !== null).length
`;

it('where descriptors run out, calls wait for those that have theirs, and none is lost', async (context) => {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'wide.js': scriptOf('exec echo') } });
  const under = ['prlimit', '--nofile=48:48'];
  const { code, stdout, stderr } = await runWf(['run', 'wide.js', '--concurrency', `${WIDE}`, ...SHELL], {
    project,
    under,
    timeoutMs: 60_000,
  });
  expect(stderr).toContain('(overloaded, attempt 2)');
  expect([code, readResult(stdout)], stderr).toEqual([0, WIDE]);
});

it('nor is one lost for which git has no descriptors at first', { timeout: 180_000 }, async (context) => {
  needTool(context, 'prlimit');
  const project = makeRepository({ 'a.txt': 'a' });
  const prompts = Array.from({ length: 16 }, (_, i): [string, string] => [`p${i}`, `exec echo ${i}`]);
  project.write('wide.js', isolatedFan(Object.fromEntries(prompts)));
  const { code, stdout, stderr } = await runWf(['run', 'wide.js', '--concurrency', '16', ...SHELL], {
    project,
    under: ['prlimit', '--nofile=48:48'],
    timeoutMs: 150_000,
  });
  expect([code, readResult(stdout)], stderr).toEqual([0, prompts.map((_, i) => String(i))]);
});

it('a sandbox that the system has no room for is told with its cause and remedy, and not with a stack', async (context) => {
  needTool(context, 'prlimit');
  const project = makeProject({ files: { 'wide.js': scriptOf('exec echo') } });
  const { code, stderr } = await runWf(['run', 'wide.js', ...SHELL], { project, under: ['prlimit', '--nofile=24:24'] });
  expect(stderr).toContain(
    'WF_SANDBOX_DIED: The sandbox process could not be started: the system is out of resources (EMFILE). Raise the limits of open files',
  );
  expect(stderr).not.toMatch(/^ +at /m);
  expect(code).toBe(1);
});

it('where no further process is let in, the run goes on with what it has, and later with the rest', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root can become another user');
  // A user of its own: the limit counts all that runs under it.
  const somebody = ['setpriv', '--reuid=64123', '--regid=64123', '--clear-groups'];
  needTool(context, 'setpriv', [...somebody.slice(1), process.execPath, '--version']);
  needTool(context, 'prlimit');
  const project = makeProject({
    files: {
      'two.js': `export const meta = { name: 'two', description: 'one after the other' }
return [await agent('first', { label: 'A' }), await agent('second', { label: 'B' })]
`,
    },
  });
  chmodSync(project.root, 0o755);
  spawnSync('chown', ['-R', '64123:64123', project.root]);
  const backend = makeFakeBackend(project, { gated: ['A'] });
  spawnSync('chown', ['-R', '64123:64123', project.root]);
  // Root may lack the right to do it to somebody else.
  const prlimit = (...words: string[]): string => {
    const { status, stdout, stderr } = spawnSync(
      somebody[0] as string,
      [...somebody.slice(1), 'prlimit', '--pid', String(running.pid), ...words],
      { encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
    return stdout.trim();
  };
  const running = startWf(['run', 'two.js', ...backend.flags], { project, under: somebody });
  await backend.waitForStart('A');
  const most = prlimit('--nproc', '--raw', '--noheadings', '-o', 'SOFT');
  prlimit('--nproc=1:');
  backend.openGate('A');
  await running.waitForStderr(/B: tried again in .* \(overloaded, attempt 2\)/);
  prlimit(`--nproc=${most}:`);
  const { code, signal, stderr } = await running.done;
  expect([code, signal], stderr).toEqual([0, null]);
  expect(backend.ledger.starts().map(({ label }) => label)).toEqual(['A', 'B']);
});
