/** Every example of the guide is sound and runs, with made-up answers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { runFile } from './support/run-script.js';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'writing-workflows.md'), 'utf8');

/** What stands between the fences marked `js runnable`, with the args named there. */
const examples = [...page.matchAll(/^```js runnable(?: args=(.*))?\n([\s\S]*?)^```$/gm)].map(
  ([, args, source = '']) => ({
    name: /name: '([^']+)'/.exec(source)?.[1] ?? '',
    args,
    source,
  }),
);

/** What examples call by name. */
const SAVED = `export const meta = { name: 'topic-report', description: 'Reports on a topic.' }
return await agent('Report on ' + args.topic)
`;

let project: TestProject;
beforeAll(() => {
  const files = Object.fromEntries(examples.map(({ name, source }) => [`${name}.js`, source]));
  project = makeProject({ files: { ...files, '.claude/workflows/topic-report.js': SAVED }, git: true, until: 'file' });
});

describe('docs/writing-workflows.md', () => {
  it('has examples, each with a name of its own', () => {
    expect(examples.length).toBeGreaterThan(8);
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length);
    // Every block of JavaScript is one of them.
    expect(page.match(/^```js(?! runnable)/gm)).toBeNull();
  });

  it('wf check has nothing to say against them', async () => {
    const checked = await runWf(['check', ...examples.map(({ name }) => `${name}.js`)], { project });
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to say') });
  });

  it.each(examples)('$name runs under --dry-run', async ({ name, args }) => {
    const run = await runFile(project, `${name}.js`, ['--dry-run', ...(args === undefined ? [] : ['--args', args])]);
    expect(run.code).toBe(0);
    expect(run.result).toBeDefined();
    expect(run.state.counts.ok).toBeGreaterThan(0);
    expect(run.state).not.toHaveProperty('scriptErrors');
  });
});
