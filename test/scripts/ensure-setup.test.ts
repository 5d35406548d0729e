/** `ensure-setup.mjs` in a small project whose "installation" and build are stand-ins that say that they ran. */
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startWf, type WfResult } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

const SCRIPTS = join(import.meta.dirname, '..', '..', 'scripts');

const lock = (version: string) =>
  JSON.stringify({
    packages: {
      '': {},
      'node_modules/a': { version },
      'node_modules/only-elsewhere': { version: '1.0.0', optional: true },
    },
  });

/** Does what `npm ci` leaves behind, as far as the script looks at it. */
const INSTALL = `
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
console.log('INSTALLING');
if (existsSync('broken-registry')) process.exit(1);
rmSync('node_modules', { recursive: true, force: true });
for (const name of ['.bin', 'ivm7']) mkdirSync('node_modules/' + name, { recursive: true });
symlinkSync(process.execPath, 'node_modules/.bin/node');
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: { 'node_modules/a': packages['node_modules/a'] } }));
`;

const MAIN = `
console.log('RUNNING', JSON.stringify(process.argv.slice(2)));
console.log('NODE', process.argv0, process.env.PATH.split(':')[0]);
process.on('SIGINT', () => process.exit(130));
if (process.argv.includes('wait')) setInterval(() => {}, 60000);
else process.exitCode = 3;
`;

function makeClone(): TestProject {
  const project = makeProject({
    files: {
      'package.json': JSON.stringify({ type: 'module', scripts: { setup: 'node install.mjs' } }),
      'package-lock.json': lock('1.0.0'),
      'install.mjs': INSTALL,
      'scripts/build.mjs': "console.log('BUILDING', process.argv.slice(2).join(' '))",
      'scripts/verify.mjs': "console.log('VERIFYING')",
      'dist/cli/main.js': MAIN,
    },
  });
  for (const name of ['ensure-setup.mjs', 'compare-install.mjs', 'run-program.mjs']) {
    copyFileSync(join(SCRIPTS, name), project.path('scripts', name));
  }
  return project;
}

const start = (project: TestProject, ...args: string[]) =>
  startWf(args, { project, entry: project.path('scripts/ensure-setup.mjs') });

/** The words in capitals, in order. */
const stepsOf = ({ stdout }: WfResult) => stdout.match(/^(INSTALLING|BUILDING|RUNNING|VERIFYING)/gm);

describe('npm run demo', () => {
  it('installs, builds and runs in a fresh clone, with the installed Node and the exit code of the run', async () => {
    const project = makeClone();
    const result = await start(project, 'demo', '--arg', 'x=1').done;
    expect(stepsOf(result)).toEqual(['INSTALLING', 'BUILDING', 'RUNNING']);
    expect(result.code).toBe(3);
    const args = JSON.parse(/^RUNNING (.*)$/m.exec(result.stdout)?.[1] ?? '') as string[];
    expect(args.slice(0, 4)).toEqual(['run', 'survey', '--backend', 'command']);
    expect(args.slice(-2)).toEqual(['--arg', 'x=1']);
    const bin = project.path('node_modules/.bin');
    expect(result.stdout).toContain(`NODE ${bin}/node ${bin}`);
    expect(result.stdout).toContain('BUILDING --if-stale');
  });

  it('installs again only when node_modules is not what the lock file says', async () => {
    const project = makeClone();
    await start(project, 'demo').done;
    const steps = async () => stepsOf(await start(project, 'demo').done);
    expect(await steps()).toEqual(['BUILDING', 'RUNNING']);

    project.write('package-lock.json', lock('1.0.1'));
    expect(await steps()).toEqual(['INSTALLING', 'BUILDING', 'RUNNING']);
    // As a plain install under an old Node leaves it.
    rmSync(project.path('node_modules/ivm7'), { recursive: true });
    expect(await steps()).toEqual(['INSTALLING', 'BUILDING', 'RUNNING']);
    rmSync(project.path('node_modules/.bin/node'));
    expect(await steps()).toEqual(['INSTALLING', 'BUILDING', 'RUNNING']);
    // As an installation that was interrupted leaves it.
    rmSync(project.path('node_modules/.package-lock.json'));
    expect(await steps()).toEqual(['INSTALLING', 'BUILDING', 'RUNNING']);
  });

  it('hands a signal on and waits for the run to end', async () => {
    const handle = start(makeClone(), 'demo', 'wait');
    await handle.waitForStdout(/RUNNING[\s\S]*NODE/);
    handle.kill('SIGINT');
    expect(await handle.done).toMatchObject({ code: 130 });
  });
});

describe('npm run verify', () => {
  it('leaves the build to the checks', async () => {
    expect(stepsOf(await start(makeClone(), 'verify').done)).toEqual(['INSTALLING', 'VERIFYING']);
  });

  it('ends with a closing line also when nothing could be installed', async () => {
    const project = makeClone();
    project.write('broken-registry', '');
    const { code, stdout, stderr } = await start(project, 'verify').done;
    expect(code).toBe(1);
    expect(stderr).toMatch(/the installation failed/);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('0 passed, 1 failed');
  });
});

describe('ensure-setup.mjs', () => {
  it('knows its tasks', async () => {
    expect(await start(makeClone(), 'constructor').done).toMatchObject({ code: 2, stdout: '' });
  });

  it.each(['ensure-setup.mjs', 'compare-install.mjs', 'run-program.mjs'])(
    '%s uses nothing that Node 20 or an empty clone lacks',
    (name) => {
      const text = readFileSync(join(SCRIPTS, name), 'utf8');
      expect(text).not.toMatch(/import\.meta\.(dirname|filename)/);
      const imports = text.match(/from '[^']+'/g) ?? [];
      expect(imports.filter((from) => !/^from '(node:|\.\/(run-program|compare-install)\.mjs')/.test(from))).toEqual(
        [],
      );
    },
  );
});
