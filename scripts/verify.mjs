// `npm run verify`: every check and every test, whatever fails on the way. The last line counts them: a check that
// fails is one failure. Runs under the Node 24 of node_modules (see ensure-setup.mjs).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { addCounts, closingLine, countReport } from './count-report.mjs';
import { runProgram } from './run-program.mjs';

const CHECKS = ['build', 'format', 'lint', 'types', 'dead', 'publint'];
process.chdir(resolve(import.meta.dirname, '..'));

let stoppedBy;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => (stoppedBy = signal));

const failedChecks = [];
for (const check of CHECKS) {
  if (!stoppedBy && !(await succeeds(check))) failedChecks.push(check);
}
const counts = stoppedBy ? countReport(undefined, 1) : await runTests();
counts.failed += failedChecks.length;

if (stoppedBy) {
  counts.failed = Math.max(counts.failed, 1);
  console.log(`FAILED: stopped by ${stoppedBy}`);
}
for (const check of failedChecks) console.log(`FAILED check: ${check} (npm run ${check})`);
for (const note of counts.notes) console.log(`FAILED: ${note}`);
console.log(closingLine(counts));
process.exitCode = counts.failed === 0 ? 0 : 1;

async function succeeds(check) {
  console.log(`\n── ${check}`);
  const started = performance.now();
  const code = await run(['--run', check]);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`   ${check}: ${code === 0 ? 'ok' : 'FAILED'} (${seconds} s)`);
  return code === 0;
}

async function runTests() {
  // `--allowOnly=false` so that a forgotten `.only` cannot hide the other tests.
  const reporters = ['default', './scripts/skip-reporter.mjs', 'json'].map((name) => `--reporter=${name}`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--allowOnly=false', ...reporters];
  const own = await countTests('tests', (file) => [...vitest, `--outputFile.json=${file}`]);
  if (stoppedBy) return own;
  const agents = ['scripts/agents.mjs', '--allowOnly=false', '--report'];
  return addCounts(own, await countTests('tests with real agents', (file) => [...agents, file]));
}

async function countTests(title, argv) {
  console.log(`\n── ${title}`);
  const folder = mkdtempSync(join(tmpdir(), 'wf-verify-'));
  const file = join(folder, 'report.json');
  try {
    const code = await run(argv(file));
    return countReport(readReport(file), code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Node itself, without input. */
function run(args) {
  return runProgram(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
