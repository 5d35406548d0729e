import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startWf } from './run-wf.js';
import { makeProject } from './temp-project.js';

const MODULE = join(import.meta.dirname, 'watchdog.ts');

function run(rest: string) {
  const project = makeProject();
  const entry = project.write('main.mjs', `import { startWatchdog } from '${MODULE}';\n${rest}`);
  return startWf([], { project, entry }).done;
}

describe('the watchdog', () => {
  it('ends a process that stands still, and names the file', async () => {
    const { signal, stderr } = await run("startWatchdog('slow.test.ts', 300); for (;;);");
    expect(signal).toBe('SIGKILL');
    expect(stderr).toContain('slow.test.ts has blocked its process for 300 ms');
  });

  it('lets one live that only takes its time, and keeps none alive', async () => {
    expect(await run("startWatchdog('x', 300); setTimeout(() => console.log('done'), 900);")).toMatchObject({
      code: 0,
      stdout: 'done\n',
    });
    expect(
      await run(
        "startWatchdog('x', 300)(); setTimeout(() => { const end = Date.now() + 900; while (Date.now() < end); });",
      ),
    ).toMatchObject({
      code: 0,
    });
  });
});
