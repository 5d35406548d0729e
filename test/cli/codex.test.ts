/** Codex from the command line to the journal, with a scripted program in place of the real one. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SCRIPTED_CODEX } from '../agents-room/codex-kit.js';
import { readJournal } from '../support/journal.js';
import { isAlive } from '../support/processes.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { newestRun, readState, workflow } from './cli-kit.js';

/** A project with `codex` on its PATH. */
function place(body: string, steps: readonly object[]) {
  const project = makeProject({ files: { 'flow.js': workflow(body) } });
  project.write('steps.json', JSON.stringify(steps));
  // Its environment is closed, so the program is told its steps by its own words.
  const variables = ['SCRIPTED_CODEX=steps.json', 'SCRIPTED_CODEX_LOG=started.jsonl', 'CODEX_LOGGED_IN=1'];
  const script = project.write('bin/codex', `#!/bin/sh\nexec env ${variables.join(' ')} '${SCRIPTED_CODEX}' "$@"\n`);
  chmodSync(script, 0o755);
  return { project, env: { PATH: `${project.path('bin')}:${project.env.PATH}` } };
}

test('wf run --backend codex: answered, told, recorded with thread and cost, and never paid twice', async () => {
  const usage = { in: 100, out: 10, cached: 40 };
  const lines = [
    { type: 'item.started', item: { id: '1', type: 'command_execution' } },
    { type: 'item.completed', item: { id: '1', type: 'command_execution' } },
  ];
  const { project, env } = place(
    `const [a, b] = await parallel([() => agent('One.', { label: 'A' }), () => agent('Two.', { label: 'B' })])
     return { a, b, c: await agent('Three.', { label: 'C', schema: { type: 'object', required: ['ok'] } }) }`,
    [{ text: '{"ok":true}', usage, lines }],
  );
  const args = ['run', 'flow.js', '--backend', 'codex', '--model', 'gpt-5', '--permission', 'read'];
  const run = await runWf(args, { project, env });
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual({ a: '{"ok":true}', b: '{"ok":true}', c: { ok: true } });
  expect(readState(project).usage).toMatchObject({
    inputTokens: 300,
    outputTokens: 30,
    cacheReadTokens: 120,
    usd: null,
  });
  const results = readJournal(join(project.runDir(newestRun(project)), 'journal.jsonl')).filter(
    ({ kind }) => kind === 'ok',
  );
  expect(results).toHaveLength(3);
  for (const line of results)
    expect(line).toMatchObject({ backend: 'codex', model: 'gpt-5', sessionId: expect.any(String) });
  const starts = project.read('started.jsonl').trim().split('\n');
  expect(starts).toHaveLength(3);
  expect(starts[0]).toContain('sandbox_mode=\\"read-only\\"');

  const again = await runWf(['run', '--resume-from', newestRun(project)], { project, env: { PATH: project.env.PATH } });
  expect([again.code, again.stdout]).toEqual([0, run.stdout]);
  expect(project.read('started.jsonl').trim().split('\n')).toHaveLength(3);
});

test('a signal ends codex with everything below it, and the call is open', async () => {
  const { project, env } = place("return await agent('Work.')", [{ hang: true }]);
  const run = startWf(['run', 'flow.js', '--backend', 'codex'], { project, env });
  await run.waitForStderr(/Model metadata not found/);
  run.kill('SIGINT');
  expect((await run.done).code).toBe(130);
  expect(readState(project)).toMatchObject({ status: 'cancelled', counts: { noResult: 1 } });
});

test('the config names program, model and settings of codex', async () => {
  const { project } = place("return await agent('Work.')", [{ text: 'done' }]);
  const codex = { executable: './bin/codex', model: 'from-config', config: { 'features.x': false } };
  project.write('.claude/wf.json', JSON.stringify({ backend: 'codex', backends: { codex } }));
  const run = await runWf(['run', 'flow.js'], { project });
  expect([run.code, run.stdout], run.stderr).toEqual([0, 'done\n']);
  for (const word of ['--model=from-config', 'features.x=false']) expect(project.read('started.jsonl')).toContain(word);
  project.write('.claude/wf.json', JSON.stringify({ backends: { codex: { sandbox: 'none' } } }));
  const wrong = await runWf(['run', 'flow.js', '--backend', 'codex'], { project });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('sandbox');
});

test('without the program the run stops and says what to install', async () => {
  const project = makeProject({ files: { 'flow.js': workflow("return await agent('Work.')") } });
  const run = await runWf(['run', 'flow.js', '--backend', 'codex'], { project });
  expect(run.code).toBe(6);
  expect(run.stderr).toContain('npm install -g @openai/codex');
});

test('when the engine is killed its codex goes as well', async () => {
  const { project, env } = place("return await agent('Work.')", [{ hang: true }]);
  const run = startWf(['run', 'flow.js', '--backend', 'codex'], { project, env });
  await run.waitForStderr(/Model metadata not found/);
  run.kill('SIGKILL');
  await run.exited;
  // The project's own end checks that no process is left.
  await waitFor('the end of the engine', () => !isAlive(run.pid));
});
