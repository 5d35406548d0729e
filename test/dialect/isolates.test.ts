/** Many isolates, many large answers, and ends with calls still open: nothing leaks, hangs or slows down. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineBackend, type RunEvent, startWorkflow } from '../../src/index.js';
import { rssBytes } from '../../src/shared/process-info.js';
import { descendantsOf } from '../support/processes.js';
import { requireBuild, runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { META } from './support/run-script.js';

const ROUNDS = 5 * Number(process.env.WF_SOAK ?? 1);

let folder: string;
beforeAll(() => {
  requireBuild();
  folder = mkdtempSync(join(tmpdir(), 'wf-isolates-'));
  writeFileSync(join(folder, 'package.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const start = (text: string, options: Partial<Parameters<typeof startWorkflow>[0]> = {}) =>
  startWorkflow({
    source: { text: META + text, filename: 'main.js' },
    backend: defineBackend({ name: 'quick', run: async ({ prompt }) => ({ text: prompt }) }),
    cwd: folder,
    home: folder,
    env: { PATH: '' },
    ...options,
  });

/** Memory of the sandbox process, MB. */
function sandboxMegabytes(): number {
  const [sandbox] = descendantsOf(process.pid).filter(({ command }) => command.includes('sandbox.cjs'));
  return sandbox === undefined ? 0 : (rssBytes(sandbox.pid) ?? 0) / 2 ** 20;
}

describe('isolates', () => {
  it('B-120 500 child workflows in one run: the last hundred are as fast as the first, memory grows by less than a fifth', async (context) => {
    context.skip(process.platform !== 'linux', 'memory of another process is read from /proc');
    writeFileSync(join(folder, 'tiny.js'), `${META}return args + 1\n`);
    const marks: { at: number; mb: number }[] = [];
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'log' && event.level === 'log') marks.push({ at: performance.now(), mb: sandboxMegabytes() });
    };
    const run = await start(
      `let sum = 0
for (let i = 0; i < 500; i++) {
  if (i % 100 === 0) { log('mark'); await agent('wait for the mark ' + i) }
  sum = await workflow({ scriptPath: 'tiny.js' }, sum)
}
log('mark'); await agent('last')
return sum`,
      { onEvent },
    );
    const { result } = await run.done;
    expect(result).toBe(500);
    const times = marks.slice(1).map(({ at }, i) => at - (marks[i]?.at ?? 0));
    expect(marks).toHaveLength(6);
    expect(times.at(-1)).toBeLessThan(2 * (times[0] ?? 0) + 200);
    // The first hundred warm the process up.
    expect(marks.at(-1)?.mb).toBeLessThan(1.2 * (marks[1]?.mb ?? 0) + 10);
  });

  it('B-119 300 answers of 400 kB of which the script keeps the lengths: the default memory is enough', async () => {
    const large = 'x'.repeat(400_000);
    const backend = defineBackend({ name: 'large', run: async () => ({ text: large }) });
    const run = await start(
      `const lengths = await parallel(Array.from({ length: 300 }, (_, i) => async () => (await agent('n' + i)).length))
return lengths.reduce((a, b) => a + b)`,
      { backend },
    );
    expect(await run.done).toMatchObject({ status: 'completed', result: 300 * 400_000 });
  });

  const TEN = "const open = Array.from({ length: 10 }, (_, i) => agent('open ' + i)); await agent('go')\n";
  it.each([
    ['a cancel', 'await open[0]', 'cancelled', 130],
    ['an error of the script', "throw new Error('stop')", 'failed', 1],
    ['a turn without end', 'for (;;) {}', 'failed', 1],
    ['a return', "return 'done'", 'completed', 0],
  ])(
    'B-116 %s with ten calls open ends in under 3 s with the right code, every time',
    async (what, end, status, exitCode) => {
      for (let round = 0; round < ROUNDS; round++) {
        let going: () => void = () => {};
        const gone = new Promise<void>((resolve) => {
          going = resolve;
        });
        const backend = defineBackend({
          name: 'open',
          run: ({ prompt }, { signal }) =>
            new Promise((resolve, reject) => {
              if (prompt === 'go') resolve({ text: 'go' });
              else signal.addEventListener('abort', () => reject(new Error('stopped')));
              if (prompt === 'go') setImmediate(going);
            }),
        });
        const run = await start(`${TEN}${end}`, { backend, concurrency: 20, turnTimeoutMs: 300 });
        await gone;
        const from = performance.now();
        if (what === 'a cancel') run.cancel();
        expect(await run.done).toMatchObject({ status, exitCode });
        expect(performance.now() - from).toBeLessThan(3_000);
      }
    },
  );

  it('B-122 memory is given in megabytes: what it is not is refused, what is too much ends the run', async () => {
    const project = makeProject({
      files: { 'grow.js': `${META}const all = []\nfor (let i = 0; ; i++) all.push('x'.repeat(1000) + i)\n` },
    });
    const flags = ['run', 'grow.js', '--backend', 'mock'];
    for (const value of ['-1', 'abc', '0', '64GBB'])
      expect([value, (await runWf([...flags, '--memory', value], { project })).code]).toEqual([value, 2]);
    expect(project.runIds()).toEqual([]);
    const run = await runWf([...flags, '--memory', '32', '--turn-timeout', '20s'], { project });
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/WF_SCRIPT_MEMORY.*32 MB/);
  });
});
