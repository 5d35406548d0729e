/** Every script of fixtures/workflows and .claude/workflows as it stands: checked, rehearsed twice, and the same both times. */
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JournalLine } from '../support/journal.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { runFile, type ScriptRun } from './support/run-script.js';

const ROOT = join(import.meta.dirname, '..', '..');
const scripts = ['fixtures/workflows', '.claude/workflows'].flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.js'))
    .map((name) => `${folder}/${name}`),
);

/** A journal without what differs from run to run. */
const steady = (run: ScriptRun): object[] =>
  run.journal.map(({ seq: _, startedAt: __, endedAt: ___, sum: ____, ...line }: JournalLine) => line).sort(byCall);

const byCall = (a: { n?: unknown; type?: unknown }, b: { n?: unknown; type?: unknown }): number =>
  Number(a.n ?? 0) - Number(b.n ?? 0) || String(a.type).localeCompare(String(b.type));

let project: TestProject;
beforeAll(() => {
  project = makeProject({ git: true, until: 'file' });
  for (const folder of ['fixtures/workflows', '.claude/workflows', '.claude/agents'])
    cpSync(join(ROOT, folder), project.path(folder), { recursive: true });
});

describe('the scripts of this repository', () => {
  it('there are some, and wf check has no error for them', async () => {
    expect(scripts.length).toBeGreaterThan(8);
    const checked = await runWf(['check', ...scripts], { project });
    expect([checked.code, checked.stdout.match(/: error /g)]).toEqual([0, null]);
  });

  it.each(scripts)('%s: --dry-run twice gives the same journal and the same result', async (script) => {
    const flags = ['--dry-run', '--allow-failures', '--args', '{"files":["src/a.ts","src/b.ts"]}'];
    const one = await runFile(project, script, flags);
    const two = await runFile(project, script, flags);
    expect([one.code, one.state.status]).toEqual([0, 'completed']);
    expect(one.journal.length).toBeGreaterThan(0);
    expect(two.result).toEqual(one.result);
    expect(steady(two)).toEqual(steady(one));
  });
});
