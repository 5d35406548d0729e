import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, stop } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

/** Makes a worker of this folder, TypeScript and all, runnable as a process of its own; `path` is set before the tests. */
export function bundleWorker(name: string): { readonly path: string } {
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'wf-worker-'));
    await build({
      entryPoints: [resolve(import.meta.dirname, `${name}.ts`)],
      outfile: join(folder, `${name}.cjs`),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node22',
      logLevel: 'warning',
    });
    await stop();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    get path() {
      return join(folder, `${name}.cjs`);
    },
  };
}
