/** Where the program of Codex is found, and what the backend says before a run. */
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CodexOptions, createCodexBackend } from '../../src/agents/codex/codex-backend.js';
import { findCodex } from '../../src/agents/codex/find-codex.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { makeProject } from '../support/temp-project.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';
import { scriptedCodex } from './codex-kit.js';

describe('the program', () => {
  const PLATFORM = `@openai/codex-${process.platform}-${process.arch}`;

  /** As npm installs it: a script on the PATH, the program in a package of its own. */
  const install = (folder: string, nested = false) => {
    const codex = join(folder, 'node_modules/@openai/codex');
    const native = join(nested ? codex : folder, 'node_modules', PLATFORM);
    const program = join(native, 'vendor/some-triple/bin/codex');
    for (const path of [join(codex, 'bin'), join(program, '..'), join(folder, 'node_modules/.bin')]) {
      mkdirSync(path, { recursive: true });
    }
    writeFileSync(join(codex, 'package.json'), '{"name":"@openai/codex","version":"1.0.0"}');
    writeFileSync(join(codex, 'bin/codex.js'), '#!/usr/bin/env node\n');
    writeFileSync(join(native, 'package.json'), '{"version":"1.0.0"}');
    writeFileSync(program, '#!/bin/sh\n');
    for (const file of [program, join(codex, 'bin/codex.js')]) chmodSync(file, 0o755);
    symlinkSync('../@openai/codex/bin/codex.js', join(folder, 'node_modules/.bin/codex'));
    return { program, bin: join(folder, 'node_modules/.bin') };
  };

  test.each([false, true])(
    'behind the script on the PATH, which would outlive a kill (packages nested: %s)',
    (nested) => {
      const { root, dir } = makeProject();
      const { program, bin } = install(root, nested);
      expect(findCodex({ executable: undefined, folder: dir, env: { PATH: `/nowhere:${bin}` } })).toBe(program);
      expect(findCodex({ executable: `${bin}/codex`, folder: dir, env: {} })).toBe(program);
    },
  );

  test('of the project, where none is on the PATH', () => {
    const project = makeProject();
    const { program } = install(project.dir);
    expect(findCodex({ executable: undefined, folder: project.path('.'), env: { PATH: '/nowhere' } })).toBe(program);
  });

  test('another program of that name is taken as it is', () => {
    const project = makeProject();
    const own = project.write('bin/codex', '#!/bin/sh\n');
    chmodSync(own, 0o755);
    expect(findCodex({ executable: undefined, folder: project.dir, env: { PATH: project.path('bin') } })).toBe(own);
    expect(findCodex({ executable: 'bin/codex', folder: project.dir, env: {} })).toBe(own);
    expect(
      findCodex({ executable: 'bin/other', folder: project.dir, env: { PATH: project.path('bin') } }),
    ).toBeUndefined();
  });

  test('none: what to install', async () => {
    const backend = createCodexBackend({ env: { PATH: '/nowhere' }, folder: makeProject().dir });
    expect(await backend.probe()).toMatchObject({
      ok: false,
      fix: expect.stringContaining('npm install -g @openai/codex'),
    });
    const outcome = await executeCall(backend, makeRequest(), makePolicy(), makeContext());
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_BACKEND_MISSING' }, shared: true });
  });

  test('the probe asks for a sign-in, unless a key or a provider of its own makes it needless', async () => {
    const probe = async (options: CodexOptions) => (await scriptedCodex([], options).backend.probe()).ok;
    const out = { CODEX_LOGGED_IN: undefined };
    expect(await probe({})).toBe(true);
    expect(await probe({ env: out })).toBe(false);
    expect(await probe({ env: { ...out, CODEX_API_KEY: 'k' } })).toBe(true);
    expect(await probe({ env: out, settings: { config: { model_provider: 'mine' } } })).toBe(true);
    const project = makeProject();
    project.write('config.toml', 'model_provider = "mine"\n');
    expect(await probe({ env: { ...out, CODEX_HOME: project.dir } })).toBe(true);
  });
});
