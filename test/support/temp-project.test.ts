import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { expectNoProcessesLeft } from './processes.js';
import { makeProject, type TestProject } from './temp-project.js';

const made: TestProject[] = [];
afterAll(() => expect(made.map((project) => existsSync(project.root))).toEqual(made.map(() => false)));

describe('makeProject', () => {
  it('writes the files into folders of their own, outside of any other project', () => {
    const project = makeProject({ files: { 'a.js': 'one', '.claude/workflows/b.js': 'two' } });
    made.push(project);
    expect(project.read('.claude/workflows/b.js')).toBe('two');
    expect(project.env.HOME).toBe(project.home);
    expect(new Set([project.dir, project.home, project.control, project.root]).size).toBe(4);
    expect(existsSync(project.path('.git'))).toBe(false);
  });

  it('makes a repository with one commit that holds the files', () => {
    const project = makeProject({ files: { 'a.js': 'one' }, git: true });
    made.push(project);
    expect(project.git('ls-files').trim()).toBe('a.js');
    expect(project.git('status', '--porcelain')).toBe('');
    expect(project.git('rev-list', '--count', 'HEAD').trim()).toBe('1');
  });

  it('lists run folders by time and nothing else', () => {
    const project = makeProject();
    made.push(project);
    expect(project.runIds()).toEqual([]);
    const ids = ['00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001'];
    for (const name of [...ids, '.new-1', 'notes']) mkdirSync(project.runDir(name), { recursive: true });
    for (const [i, id] of ids.entries()) utimesSync(project.runDir(id), 1000 + i, 1000 + i);
    expect(project.runIds()).toEqual(ids);
  });

  it('fails a test that leaves a process behind, names the process and ends it', async () => {
    const project = makeProject({ endsWithinMs: 200 });
    made.push(project);
    const child = spawn('sleep', ['1000'], { cwd: project.dir, env: project.env, stdio: 'ignore', detached: true });
    await expect(project.dispose()).rejects.toThrow(new RegExp(`left processes[\\s\\S]*${child.pid} .*sleep 1000`));
    await expectNoProcessesLeft(project.root);
    expect(existsSync(project.root)).toBe(false);
  });

  it('ends processes in silence where a test leaves them on purpose', async () => {
    const project = makeProject({ leavesProcesses: true });
    made.push(project);
    spawn('sleep', ['1000'], { cwd: project.dir, env: project.env, stdio: 'ignore', detached: true });
    await project.dispose();
    await expectNoProcessesLeft(project.root);
  });
});
