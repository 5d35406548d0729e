// Builds dist/: the library and the command by tsc, the isolate's prelude and the sandbox process as one file each.
// The sandbox runs under Node's permission model and may read little, so it must not import packages from node_modules.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
mkdirSync('dist/engine/sandbox', { recursive: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });

const prelude = await build({
  entryPoints: ['src/engine/sandbox/prelude/main.ts'],
  bundle: true,
  write: false,
  format: 'iife',
  globalName: 'prelude',
  target: 'es2024',
  charset: 'utf8',
  logLevel: 'warning',
});
// The completion value of the text is the bundle's exports: { deliver, run, … }, held by the host as references.
writeFileSync('dist/engine/sandbox/prelude.js', `${prelude.outputFiles[0].text}prelude;\n`);

await build({
  entryPoints: ['src/engine/sandbox/main.ts'],
  outdir: 'dist/engine/sandbox/process',
  entryNames: 'sandbox',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  logLevel: 'warning',
});
chmodSync('dist/cli/main.js', 0o755);
