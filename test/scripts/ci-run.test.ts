/** `.ci/run` on a machine whose every program is a stand-in. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeProject } from '../support/temp-project.js';

const SCRIPT = join(import.meta.dirname, '..', '..', '.ci', 'run');
const TOOLS = ['script', 'strace', 'ps', 'prlimit', 'setpriv', 'git', 'lsof', 'node'];

/** Runs the script with these programs, each a few words of shell, and `missing` taken away. */
function runCi(programs: Record<string, string>, missing: string[] = []) {
  const project = makeProject({ files: { '.ci/run': readFileSync(SCRIPT, 'utf8') } });
  const stubs = { ...Object.fromEntries(TOOLS.map((name) => [name, 'true'])), ...programs };
  for (const [name, text] of Object.entries(stubs)) {
    if (!missing.includes(name)) execFileSync('chmod', ['+x', project.write(`bin/${name}`, `#!/bin/bash\n${text}\n`)]);
  }
  for (const name of ['dirname', 'timeout', 'cat', 'bash', 'env'])
    symlinkSync(`/usr/bin/${name}`, project.path('bin', name));
  // A file, not a pipe: nobody reads it, and a pipe would break.
  const stdin = openSync(project.write('stdin', 'something on stdin'), 'r');
  const { status, stdout } = spawnSync('/bin/bash', [project.path('.ci/run')], {
    cwd: '/',
    env: { PATH: project.path('bin'), HOME: project.home },
    encoding: 'utf8',
    stdio: [stdin, 'pipe', 'ignore'],
  });
  closeSync(stdin);
  return { code: status, lines: stdout.trimEnd().split('\n') };
}

describe('.ci/run', () => {
  it('can be executed', () => expect(() => accessSync(SCRIPT, constants.X_OK)).not.toThrow());

  it('verifies without input and with CI=true, and ends as verify does', () => {
    const npm = 'echo "[$*] [$(cat)] [$CI] [$PWD]"; echo "3 passed, 0 failed"';
    const good = runCi({ npm });
    expect(good).toMatchObject({ code: 0 });
    expect(good.lines[0]).toMatch(/^\[run --silent verify\] \[\] \[true\] \[.*\/project\]$/);
    expect(good.lines.at(-1)).toBe('3 passed, 0 failed');
    expect(runCi({ npm: 'echo "3 passed, 1 failed"; exit 1' })).toEqual({ code: 1, lines: ['3 passed, 1 failed'] });
  });

  it('installs the Debian packages of what is missing, and only then', () => {
    const npm = 'echo "1 passed, 0 failed"';
    const { code, lines } = runCi({ npm, 'apt-get': 'echo "apt-get $*"' }, ['strace', 'prlimit']);
    expect(code).toBe(0);
    expect(lines).toContain('apt-get update -qq');
    expect(lines.find((line) => line.startsWith('apt-get install'))).toMatch(/strace/);
    expect(lines.find((line) => line.startsWith('apt-get install'))).toMatch(/util-linux/);
    expect(runCi({ npm, 'apt-get': 'echo "apt-get $*"' }).lines).toEqual(['1 passed, 0 failed']);
  });

  it('says so when it cannot: no network, no apt-get, no node', () => {
    const failed = { code: 1, lines: expect.arrayContaining(['0 passed, 1 failed']) };
    expect(runCi({ npm: 'true', 'apt-get': 'exit 100' }, ['git'])).toEqual(failed);
    expect(runCi({ npm: 'true' }, ['git'])).toEqual(failed);
    expect(runCi({ npm: 'true' }, ['node'])).toEqual(failed);
  });
});
