/** `build.mjs` in a small project with the real compiler. */
import { copyFileSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, watch } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

const ROOT = join(import.meta.dirname, '..', '..');
const LAZY = 'src/engine/sandbox/lazy';

function makeClone(): TestProject {
  const project = makeProject({
    files: {
      'package.json': JSON.stringify({ name: 'x', version: '1.0.0', type: 'module' }),
      'src/cli/main.ts': "#!/usr/bin/env node\nimport { word } from '../word.js';\nprocess.stdout.write(word);\n",
      'src/word.ts': "export const word: string = 'one';\n",
      'src/engine/sandbox/main.ts': "import { word } from '../../word.js';\nprocess.stdout.write(word);\n",
      'src/engine/sandbox/prelude/main.ts': 'export const deliver = (): number => 42;\n',
    },
  });
  // Entry points of bundles whose texts do not matter here.
  const entries = [
    'index',
    'api/sandbox-launch',
    'agents/guard/guard-main',
    'agents/pattern-worker',
    'agents/compile-check',
    'agents/schema-compile',
    'shared/process-tree',
  ];
  for (const entry of entries) project.write(`src/${entry}.ts`, 'export {};\n');
  for (const name of readdirSync(join(ROOT, LAZY))) project.write(join(LAZY, name), 'export {};\n');
  for (const file of ['tsconfig.json', 'tsconfig.build.json']) copyFileSync(join(ROOT, file), project.path(file));
  for (const file of ['build.mjs', 'build-folder.mjs'])
    project.write(`scripts/${file}`, readFileSync(join(ROOT, 'scripts', file)));
  symlinkSync(join(ROOT, 'node_modules'), project.path('node_modules'));
  return project;
}

const build = (project: TestProject, ...args: string[]) =>
  runWf(args, { project, entry: project.path('scripts/build.mjs') });
const run = async (project: TestProject, file = 'dist/cli/main.js') =>
  (await runWf([], { project, entry: project.path(file) })).stdout;
const builtAt = (project: TestProject) => statSync(project.path('dist')).ino;

describe('build', () => {
  it('makes the command, the sandbox process in one file and the prelude whose value is its exports', async () => {
    const project = makeClone();
    expect(await build(project)).toMatchObject({ code: 0 });
    expect(await run(project)).toBe('one');
    expect(await run(project, 'dist/engine/sandbox/process/sandbox.cjs')).toBe('one');
    expect(statSync(project.path('dist/cli/main.js')).mode & 0o111).toBe(0o111);
    const prelude = runInThisContext(project.read('dist/engine/sandbox/prelude.js')) as { deliver(): number };
    expect(prelude.deliver()).toBe(42);
    expect(readdirSync(project.path('.build'))).toEqual([]);
  });

  it('--if-stale builds when a source changed, not when it was only touched', async () => {
    const project = makeClone();
    await build(project, '--if-stale');
    const first = builtAt(project);
    utimesSync(project.path('src/word.ts'), new Date(), new Date());
    await build(project, '--if-stale');
    expect(builtAt(project)).toBe(first);
    project.write('src/word.ts', "export const word: string = 'two';\n");
    await build(project, '--if-stale');
    expect(await run(project)).toBe('two');
  });

  it('leaves the old build where the sources have an error, and says so', async () => {
    const project = makeClone();
    await build(project);
    project.write('src/word.ts', 'export const word: string = 2;\n');
    const failed = await build(project, '--if-stale');
    expect(failed).toMatchObject({ code: 1 });
    expect(failed.stdout + failed.stderr).toMatch(/TS2322[\s\S]*dist\/ stays as it was/);
    expect(await run(project)).toBe('one');
    expect(readdirSync(project.path('.build'))).toEqual([]);
  });

  it('comes out whole from several builds at once, and is made once for those that only want it fresh', async () => {
    const project = makeClone();
    const results = await Promise.all([build(project), build(project), build(project)]);
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, '']));
    expect(await run(project)).toBe('one');

    project.write('src/word.ts', "export const word: string = 'two';\n");
    // Each build puts a new folder there; a watcher counts them.
    let exchanges = 0;
    const watcher = watch(project.dir, (event, name) => {
      if (event === 'rename' && name === 'dist') exchanges++;
    });
    await Promise.all([1, 2, 3].map(() => build(project, '--if-stale')));
    watcher.close();
    expect(await run(project)).toBe('two');
    // The old one goes, the new one comes.
    expect(exchanges).toBeLessThanOrEqual(2);
    expect(readdirSync(project.path('.build'))).toEqual([]);
  });

  it('passes over the lock of a build that is gone', async () => {
    const project = makeClone();
    project.write('.build/lock', '999999999');
    project.write('.build/dist-999999999/left', '');
    expect(await build(project)).toMatchObject({ code: 0 });
    expect(readdirSync(project.path('.build'))).toEqual([]);
  });
});
