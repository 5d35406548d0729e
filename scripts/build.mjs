// Builds dist/: the library and the command by tsc, the isolate's prelude and the sandbox process as one file each.
// The sandbox runs under Node's permission model and may read little, so it must not import packages from node_modules.
//
// dist/ is made beside its place and renamed into it, so that nobody sees a half-built one.
// `--if-stale` builds only when dist/ was not built from the sources as they are now.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { digestOfSources, replaceFolder, STAMP_FILE, stampOf, withBuildLock } from './build-folder.mjs';

const root = resolve(import.meta.dirname, '..');
const dist = join(root, 'dist');
const onlyIfStale = process.argv.includes('--if-stale');
process.chdir(root);

try {
  if (!(onlyIfStale && stampOf(dist) === digestOfSources(root))) await withBuildLock(root, buildOnce);
} catch (error) {
  console.error(`build: ${error.message}\nbuild: dist/ stays as it was.`);
  process.exitCode = 1;
}

async function buildOnce(folder) {
  // Read before the build: a source that changes meanwhile makes the result stale, not wrongly fresh.
  const digest = digestOfSources(root);
  if (onlyIfStale && stampOf(dist) === digest) return; // another process built it while this one waited
  compile(folder);
  await bundlePrelude(join(folder, 'engine/sandbox/prelude.js'));
  await bundleLazyGlobals(join(folder, 'engine/sandbox/lazy'));
  await bundleSandbox(join(folder, 'engine/sandbox/process'));
  chmodSync(join(folder, 'cli/main.js'), 0o755);
  writeFileSync(join(folder, STAMP_FILE), `${digest}\n`);
  replaceFolder(dist, folder);
}

function compile(folder) {
  try {
    execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--outDir', folder], { stdio: 'inherit' });
  } catch (error) {
    throw new Error('tsc found errors (see above).', { cause: error });
  }
}

async function bundlePrelude(file) {
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
  mkdirSync(dirname(file), { recursive: true });
  // The completion value of the text is held by the host as references; an isolate reads plain members only, and the
  // members of a bundle are getters.
  writeFileSync(
    file,
    `(() => { "use strict";\n${prelude.outputFiles[0].text}\nreturn { deliver: prelude.deliver, run: prelude.run, addTokens: prelude.addTokens }; })()\n`,
  );
}

/** Minified, as they are evaluated in each isolate whose script names one of them. */
async function bundleLazyGlobals(outdir) {
  const license = readFileSync('node_modules/core-js-pure/LICENSE', 'utf8').trim();
  const options = { outdir, bundle: true, minify: true, format: 'iife', target: 'es2024', logLevel: 'warning' };
  const sources = (...names) => names.map((name) => `src/engine/sandbox/lazy/${name}.ts`);
  await build({ ...options, entryPoints: sources('text', 'abort') });
  await build({
    ...options,
    entryPoints: sources('url', 'structured-clone', 'base64'),
    footer: { js: `/* Made from parts of core-js.\n\n${license}\n*/` },
  });
}

async function bundleSandbox(outdir) {
  await build({
    entryPoints: ['src/engine/sandbox/main.ts'],
    outdir,
    entryNames: 'sandbox',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    logLevel: 'warning',
  });
}
