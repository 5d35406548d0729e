/** Every example of docs/library.md runs as it stands, in a project that has the package installed, and its types hold. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

const ROOT = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'library.md'), 'utf8');

const blocks = [...page.matchAll(/^```(\w+) (runnable|workflow)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', use = '', text = ''], index) => ({
    file: use === 'workflow' ? 'review.js' : `example-${index}.${language === 'ts' ? 'mjs' : 'cjs'}`,
    text,
  }),
);
const examples = blocks.filter(({ file }) => file !== 'review.js');

let project: TestProject;
beforeAll(() => {
  requireBuild();
  const files = Object.fromEntries(blocks.map(({ file, text }) => [file, text]));
  project = makeProject({ files, git: true, until: 'file' });
  mkdirSync(project.path('node_modules'));
  symlinkSync(ROOT, project.path('node_modules', 'wf-engine'));
});

describe('docs/library.md', () => {
  it('has examples of modules and of CommonJS, and no other block of code', () => {
    expect(examples.map(({ file }) => file.slice(-3)).sort()).toEqual(['cjs', 'mjs', 'mjs', 'mjs', 'mjs', 'mjs']);
    expect(page.match(/^```\w/gm)).toHaveLength(blocks.length);
  });

  it.each(examples)('$file runs', async ({ file }) => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', file],
      {
        cwd: project.dir,
        env: { ...project.env, HOME: project.home },
        timeout: 60_000,
      },
    );
    expect(stderr).toBe('');
    expect(stdout).toMatch(/completed|WF_SCRIPT_NOT_FOUND|REVIEW A\.TS|reviewed a\.ts/);
  });

  it.each([
    ['node16', 'node16'],
    ['bundler', 'esnext'],
  ])(
    'examples are sound under strict and moduleResolution %s',
    (resolution, module) => {
      const files = examples
        .filter(({ file }) => file.endsWith('.mjs'))
        .map(({ file, text }) => project.write(file.replace('.mjs', '.mts'), text));
      const flags = [
        '--noEmit',
        '--strict',
        '--target',
        'es2023',
        '--module',
        module,
        '--moduleResolution',
        resolution,
      ];
      const types = ['--typeRoots', join(ROOT, 'node_modules', '@types'), '--types', 'node'];
      const check = (): string =>
        execFileSync(join(ROOT, 'node_modules', '.bin', 'tsc'), [...flags, ...types, ...files], {
          cwd: project.dir,
          encoding: 'utf8',
        });
      expect(check).not.toThrow();
    },
    60_000,
  );

  it('names every function of the library', () => {
    const functions = Object.entries(library).filter(([, value]) => typeof value === 'function');
    expect(functions.length).toBeGreaterThan(15);
    expect(functions.map(([name]) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });
});
