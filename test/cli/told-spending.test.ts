/** What wf says that a run has cost. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunView } from '../../src/index.js';
import { waitForJournalLines } from '../support/journal.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { killRun, listRuns, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

const SCRIPT = `export const meta = { name: 'flow', description: 'A case' }
return await parallel(['A', 'B', 'C'].map((name) => () => agent('do ' + name, { label: name })))
`;
const SAYS = '{"wf":"usage","in":10,"out":20,"usd":0.25}';

it('of a killed run wf ls and wf show tell what its recorded answers have cost, whatever its last heartbeat knew', async () => {
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const agent = makeShellAgent(project, { C: { gate: 'c' }, '*': { says: SAYS } });
  const first = startWf(['run', 'flow.js', '--concurrency', '3', ...agent.flags], { project });
  await agent.waitFor('start', 'C');
  await waitForJournalLines(project, 2);
  const one = await killRun(first);
  const spent = { inputTokens: 20, outputTokens: 40, usd: 0.5, savedOutputTokens: 0, savedUsd: null };
  expect((await listRuns(project))[0]?.usage).toMatchObject(spent);
  const shown = JSON.parse((await runWf(['show', one, '--json'], { project })).stdout) as RunView;
  expect(shown.usage).toMatchObject(spent);

  // The next one has saved that, and is killed as well.
  const second = startWf(['run', '--resume-from', one], { project });
  await agent.waitFor('start', 'C', 2);
  const two = await killRun(second);
  const saved = { outputTokens: 0, usd: null, savedOutputTokens: 40, savedUsd: 0.5 };
  expect((await listRuns(project)).find(({ runId }) => runId === two)?.usage).toMatchObject(saved);
});

it('of a killed run whose last heartbeat was before its first call wf ls and wf show do not say that it cost nothing', async () => {
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const agent = makeShellAgent(project, { C: { gate: 'c' }, '*': {} });
  const wf = startWf(['run', 'flow.js', '--concurrency', '3', ...agent.flags], { project });
  await agent.waitFor('start', 'C');
  await waitForJournalLines(project, 2);
  const id = await killRun(wf);
  const file = join(project.runDir(id), 'run.json');
  const run = JSON.parse(readFileSync(file, 'utf8'));
  const { usdUnknownCalls: _, ...usage } = run.progress.usage;
  writeFileSync(
    file,
    JSON.stringify({ ...run, progress: { ...run.progress, usage: { ...usage, usd: 0 }, journalBytes: 0 } }),
  );
  expect((await listRuns(project))[0]?.usage).toMatchObject({ usd: null });
  const shown = JSON.parse((await runWf(['show', id, '--json'], { project })).stdout) as RunView;
  expect(shown.usage).toMatchObject({ usd: null });
});

it('a run that asked nobody has cost nothing, and that is known', async () => {
  const project = makeProject({ files: { 'flow.js': SCRIPT } });
  const agent = makeShellAgent(project, { '*': { says: SAYS } });
  const first = await run(project, ['flow.js', ...agent.flags]);
  const second = await run(project, ['--resume-from', first.id]);
  expect(second.state.usage).toMatchObject({ outputTokens: 0, usd: 0, savedOutputTokens: 60, savedUsd: 0.75 });
  expect(second.stderr).toMatch(/^ +cost +\$0\.00; saved by reuse: \$0\.75$/m);
});

it('a killed run whose answers are made up has cost nothing, and that is known', async () => {
  const rules = [{ when: { label: 'C' }, hang: true }];
  const project = makeProject({ files: { 'flow.js': SCRIPT, 'rules.json': JSON.stringify(rules) } });
  const handle = startWf(['run', 'flow.js', '--backend', 'mock', '--mock', 'rules.json'], { project });
  await waitForJournalLines(project, 2);
  const shown = JSON.parse((await runWf(['show', await killRun(handle), '--json'], { project })).stdout) as RunView;
  expect(shown.usage).toMatchObject({ outputTokens: 0, usd: 0 });
});
