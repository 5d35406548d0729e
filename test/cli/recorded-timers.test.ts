/** Timers over chains of runs: one that fired before the script has an answer of this run does not wait again. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { killRun, run } from './support/runs.js';
import { makeShellAgent, type ShellAgent } from './support/shell-agent.js';

const MS = 40;

/** Calls one after the other, then one that has so many milliseconds. */
const limited = (before: readonly string[], slow: string, ms: number): string =>
  `export const meta = { name: 'limited', description: 'A case' }
const late = (ms) => new Promise((resolve) => setTimeout(() => resolve('late'), ms))
for (const x of ${JSON.stringify(before)}) await agent('do ' + x, { label: x })
return await Promise.race([agent('do ${slow}', { label: '${slow}' }), late(${ms})])
`;

let project: TestProject;
let agent: ShellAgent;
/** A was answered, and the timer was faster than the call beside it. */
let first: string;

beforeAll(async () => {
  project = makeProject({ files: { 'limited.js': limited(['A'], 'slow', MS) }, until: 'file' });
  agent = makeShellAgent(project, { 'slow*': { gate: 'never' }, held: { gate: 'held' } });
  const ended = await run(project, ['limited.js', ...agent.flags]);
  expect(ended.result).toBe('late');
  first = ended.id;
});

/** Labels of the calls that no record answered, whether or not their agents were started before the timer fired. */
const queued = (id: string): string[] =>
  readFileSync(join(project.runDir(id), 'events.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { type: string; label?: string })
    .flatMap(({ type, label = '' }) => (type === 'call.queued' ? [label] : []));

async function resume(source: string, script: string): Promise<string[]> {
  project.write('limited.js', script);
  const plan = await runWf(['plan', 'limited.js', '--resume-from', source, '--json'], { project });
  const live = (JSON.parse(plan.stdout) as { calls: { decision: string; label: string }[] }).calls
    .filter(({ decision }) => decision === 'live')
    .map(({ label }) => label);
  const ended = await run(project, ['limited.js', '--resume-from', source]);
  expect(ended.result).toBe('late');
  expect(queued(ended.id).slice(0, live.length)).toEqual(live);
  return queued(ended.id);
}

describe('J13 a timer that fired in an earlier run', () => {
  it('does not wait, and what races with it is not asked, edited or not', async () => {
    expect(await resume(first, limited(['A'], 'slow', MS))).toEqual([]);
    expect(await resume(first, limited(['A'], 'slow 2', MS))).toEqual([]);
  });

  it('waits when it is given another time', async () => {
    expect(await resume(first, limited(['A'], 'slow', MS + 1))).toEqual(['slow']);
  });

  it('waits behind an answer that this run made', async () => {
    expect(await resume(first, limited(['A', 'new'], 'slow', MS))).toEqual(['new', 'slow']);
  });

  it('does not wait behind an answer that a killed run between had made', async () => {
    project.write('limited.js', limited(['A', 'between', 'held'], 'slow', MS));
    const handle = startWf(['run', 'limited.js', '--resume-from', first], { project });
    await agent.waitFor('start', 'held');
    const killed = await killRun(handle);
    agent.openGate('held');
    expect(await resume(killed, limited(['A', 'between'], 'slow', MS))).toEqual([]);
  });
});
