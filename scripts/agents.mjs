// `npm run agents [-- <vitest arguments>]`: installs the real agents of test/agents when they are not there and runs their
// tests against a fake model on loopback. `--report <file>` also writes vitest's JSON report, for verify.mjs; `--write` writes
// results.json and the table of docs/backends.md.
// Install scripts are not run: the agents' own programs lie ready in their platform packages.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonToInstall } from './compare-install.mjs';
import { runProgram } from './run-program.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'test', 'agents');
const QUIET = ['ignore', 'inherit', 'inherit'];

const args = process.argv.slice(2);
const at = args.indexOf('--report');
const [, report] = at < 0 ? [] : args.splice(at, 2);

const write = args.indexOf('--write');
if (write >= 0) {
  args.splice(write, 1);
  process.env.WF_WRITE_RESULTS = '1';
}

process.exitCode = (await install()) || (await check()) || (await test());

async function install() {
  const reason = reasonToInstall(folder);
  if (!reason) return 0;
  console.log(`agents: ${reason}; running npm ci in test/agents …`);
  const options = { cwd: folder, stdio: QUIET };
  return await runProgram('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options);
}

function check() {
  return run(['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'test/agents']);
}

function test() {
  const reporters = ['default', './scripts/skip-reporter.mjs', ...(report ? ['json'] : [])];
  const flags = [...reporters.map((name) => `--reporter=${name}`), ...(report ? [`--outputFile.json=${report}`] : [])];
  return run(['node_modules/vitest/vitest.mjs', 'run', '-c', 'test/agents/vitest.config.ts', ...flags, ...args]);
}

function run(argv) {
  return runProgram(process.execPath, argv, { cwd: root, stdio: QUIET });
}
