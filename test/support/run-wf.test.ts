import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAlive, processesMarked } from './processes.js';
import { runWf, startWf } from './run-wf.js';
import { makeProject } from './temp-project.js';

const entry = join(import.meta.dirname, 'stand-in.mjs');

describe('runWf', () => {
  it('gives exit code, output and input, in the environment of the project alone', async () => {
    const project = makeProject();
    const { code, signal, stdout, stderr } = await runWf(['echo', 'a b', ''], {
      project,
      entry,
      input: 'wörds',
      env: { EXTRA: 'yes', LANG: undefined },
    });
    expect({ code, signal }).toEqual({ code: 3, signal: null });
    expect(stderr).toMatch(/^took \d+ ns\n$/);
    const seen = JSON.parse(stdout);
    expect(seen).toMatchObject({ args: ['a b', ''], input: 'wörds', cwd: project.dir });
    const { LANG: _, ...rest } = project.env;
    expect(seen.env).toEqual({ ...rest, EXTRA: 'yes' });
  });

  it('kills the whole tree on the time limit and shows what was printed', async () => {
    const project = makeProject();
    const handle = startWf(['stubborn'], { project, entry, timeoutMs: 1500 });
    const grandchild = Number((await handle.waitForStdout(/(\d+)\n/))[1]);
    expect(isAlive(grandchild)).toBe(true);
    await expect(handle.done).rejects.toThrow(/not done after 1500 ms[\s\S]*ready/);
    await expect.poll(() => isAlive(grandchild)).toBe(false);
  });

  it('reports a missing program as such', async () => {
    const project = makeProject();
    await expect(runWf(['echo'], { project, entry, under: ['no-such-program'] })).rejects.toThrow(/ENOENT/);
  });
});

describe('startWf', () => {
  it('waits for output, takes a signal, and tells how the process ended', async () => {
    const handle = startWf(['wait'], { project: makeProject(), entry });
    await handle.waitForStderr(/^ready$/m);
    expect(handle.ended).toBe(false);
    expect(handle.kill('SIGTERM')).toBe(true);
    expect(await handle.exited).toEqual({ code: 143, signal: null });
    expect(await handle.done).toMatchObject({ code: 143, stderr: 'ready\nasked to stop\n' });
    expect(handle.kill('SIGTERM')).toBe(false);
    await handle.waitForStderr(/asked/);
    await expect(handle.waitForStderr(/never printed/)).rejects.toThrow(/never printed[\s\S]*it has ended/);
  });

  it('tells a process that was ended by a signal from one that exited', async () => {
    const handle = startWf(['wait'], { project: makeProject(), entry });
    await handle.waitForStderr(/ready/);
    handle.kill('SIGKILL');
    expect(await handle.done).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('is ended with everything below it when its project goes', async () => {
    const project = makeProject();
    const handle = startWf(['stubborn'], { project, entry });
    const grandchild = Number((await handle.waitForStdout(/(\d+)\n/))[1]);
    expect(processesMarked([project.root]).map((row) => row.pid)).toEqual(
      expect.arrayContaining([handle.pid, grandchild]),
    );
    await project.dispose();
    expect(isAlive(handle.pid)).toBe(false);
    expect(isAlive(grandchild)).toBe(false);
    expect(existsSync(project.root)).toBe(false);
  });
});
