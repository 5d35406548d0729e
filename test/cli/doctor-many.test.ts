/** `wf doctor` where there is much of the same: what is worth reading must not be pushed off the screen. */
import { linkSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

/** Sockets at which nobody listens: other names of one whose server is closed, as closing removes its own name only. */
async function leaveSockets(project: TestProject, count: number): Promise<void> {
  const folder = join(project.env.XDG_RUNTIME_DIR as string, `wf-${process.getuid?.()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const server = createServer();
  const own = join(folder, 'own');
  await new Promise<void>((resolve) => server.listen(own, resolve));
  for (let n = 0; n < count; n++)
    linkSync(own, join(folder, `00000000-0000-4000-8000-${String(n).padStart(12, '0')}.sock`));
  await new Promise((resolve) => server.close(resolve));
}

it('many notes alike are three and a count, each is in --json, and --fix tells of them as shortly', async () => {
  const project = makeProject();
  await leaveSockets(project, 40);
  const { stdout } = await runWf(['doctor'], { project, env: { WF_BACKEND: 'mock' } });
  expect(stdout.match(/is left over: no process listens there/g)).toHaveLength(3);
  expect(stdout).toContain('  note  37 more like these; --json lists them all.\n');
  expect(stdout).toContain('0 faults, 0 warnings, 40 notes; wf doctor --fix can mend 40.');
  const { findings } = JSON.parse((await runWf(['doctor', '--json'], { project })).stdout) as {
    findings: { check: string }[];
  };
  expect(findings.filter(({ check }) => check === 'sockets')).toHaveLength(40);
  const fixed = (await runWf(['doctor', '--fix'], { project, env: { WF_BACKEND: 'mock' } })).stdout;
  expect(fixed.match(/mended: removed it/g)).toHaveLength(3);
  expect(fixed).toContain('40 mended.');
});

it('a few notes alike all stand there', async () => {
  const project = makeProject();
  await leaveSockets(project, 5);
  const { stdout } = await runWf(['doctor'], { project, env: { WF_BACKEND: 'mock' } });
  expect(stdout.match(/is left over: no process listens there/g)).toHaveLength(5);
  expect(stdout).not.toContain('more like these');
});
