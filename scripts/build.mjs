// Builds dist/: the library and the command by tsc, the isolate's prelude and the sandbox process as one file each.
// The sandbox runs under Node's permission model and may read little, so it must not import packages from node_modules.
//
// dist/ is made beside its place and renamed into it, so that nobody sees a half-built one.
// `--if-stale` builds only when dist/ was not built from the sources as they are now.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
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
  await bundleProgram(folder);
  await bundlePrelude(join(folder, 'engine/sandbox/prelude.js'));
  await bundleLazyGlobals(join(folder, 'engine/sandbox/lazy'));
  await bundleSandbox(join(folder, 'engine/sandbox/process'));
  chmodSync(join(folder, 'cli/main.js'), 0o755);
  writeFileSync(join(folder, STAMP_FILE), `${digest}\n`);
  replaceFolder(dist, folder);
}

function compile(folder) {
  try {
    execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', folder], {
      stdio: 'inherit',
    });
  } catch (error) {
    throw new Error('tsc found errors (see above).', { cause: error });
  }
}

/**
 * The command and the library as a few files: a start loads three instead of three hundred. Packages are part of them
 * but for those with a binary of their own; what is imported lazily stays a file of its own.
 */
async function bundleProgram(outdir) {
  const { metafile } = await build({
    entryPoints: [
      'src/index.ts',
      'src/cli/main.ts',
      'src/api/sandbox-launch.ts',
      'src/agents/guard/guard-main.ts',
      'src/agents/pattern-worker.ts',
      'src/agents/compile-check.ts',
      'src/shared/process-tree.ts',
    ],
    outbase: 'src',
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    external: ['@swc/wasm-typescript', 'node-gyp-build'],
    // Packages in CommonJS ask for Node's own modules by `require`.
    banner: {
      js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
    },
    metafile: true,
    logLevel: 'warning',
  });
  writeNotices(join(outdir, 'THIRD-PARTY-NOTICES.txt'), metafile);
}

/** The licence of each package whose code stands in the bundles. */
function writeNotices(file, metafile) {
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  const packages = new Set(
    inputs
      .map((path) => /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path))
      .filter(Boolean)
      .map(([found]) => found.slice(0, -1)),
  );
  const notices = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    return `${name} ${version} (${license})\n\n${text ? readFileSync(join(folder, text), 'utf8').trim() : ''}\n`;
  });
  writeFileSync(file, `wf-engine holds code of these packages.\n\n${notices.join(`\n${'-'.repeat(78)}\n\n`)}`);
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
    entryPoints: { sandbox: 'src/engine/sandbox/main.ts', schemas: 'src/agents/schema-compile.ts' },
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    logLevel: 'warning',
  });
}
