// `npm run verify`: every check and every test, whatever fails on the way. The last line counts them: a check that
// fails is one failure. Runs under the Node 24 of node_modules (see ensure-setup.mjs).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { closingLine, countReport } from './count-report.mjs';

const CHECKS = ['build', 'format', 'lint', 'types', 'dead', 'publint'];
process.chdir(resolve(import.meta.dirname, '..'));

const failedChecks = CHECKS.filter((check) => !succeeds(check));
const counts = runTests();
counts.failed += failedChecks.length;

for (const check of failedChecks) console.log(`FAILED check: ${check} (npm run ${check})`);
for (const note of counts.notes) console.log(`FAILED: ${note}`);
console.log(closingLine(counts));
process.exitCode = counts.failed === 0 ? 0 : 1;

function succeeds(check) {
  console.log(`\n── ${check}`);
  const started = performance.now();
  const { status, error } = spawnSync(process.execPath, ['--run', check], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) console.error(error.message);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`   ${check}: ${status === 0 ? 'ok' : 'FAILED'} (${seconds} s)`);
  return status === 0;
}

function runTests() {
  console.log('\n── tests');
  const folder = mkdtempSync(join(tmpdir(), 'wf-verify-'));
  const file = join(folder, 'report.json');
  // The command line's reporters replace those of the configuration; `--allowOnly=false` so that a forgotten `.only`
  // cannot hide the other tests.
  const reporters = ['default', './scripts/skip-reporter.mjs', 'json'].map((name) => `--reporter=${name}`);
  const argv = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...reporters,
    `--outputFile.json=${file}`,
    '--allowOnly=false',
  ];
  try {
    const { status, signal } = spawnSync(process.execPath, argv, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (signal) console.error(`vitest was ended by ${signal}.`);
    return countReport(readReport(file), status ?? 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
