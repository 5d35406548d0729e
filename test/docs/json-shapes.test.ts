/** Every member that a verb prints with --json, and every field of an event, has a word in the section of docs/cli.md that promises it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newestRun, workflow } from '../cli/cli-kit.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { readJsonLines } from '../support/json-lines.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'cli.md'), 'utf8');

/** The words of these sections, of any level, and of the shapes that all share. */
function wordsOf(...titles: string[]): Set<string> {
  const texts = [...titles, 'Shared JSON shapes'].map((title) => {
    const [, level, text] = new RegExp(`^(#+) ${title}.*\\n([\\s\\S]*)`, 'm').exec(PAGE) ?? [];
    if (level === undefined || text === undefined) throw new Error(`docs/cli.md has no section ${title}`);
    return text.split(new RegExp(`^#{2,${level.length}} `, 'm'))[0] as string;
  });
  return new Set(texts.join('\n').match(/\w+/g));
}

/** Members, at any depth; what a script or a schema made is nobody's shape. */
const FREE = new Set(['result', 'output', 'options']);
function membersOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(membersOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...(FREE.has(name) ? [] : membersOf(inner))]);
}

function expectDocumented(value: unknown, ...titles: string[]): void {
  const words = wordsOf(...titles);
  const missing = [...new Set(membersOf(value))].filter((name) => !words.has(name));
  expect.soft(missing, titles[0]).toEqual([]);
}

it('R9 --json of each verb, jsonl and json print nothing that docs/cli.md does not name', {
  timeout: 60_000,
}, async () => {
  const project = makeProject({
    files: {
      'flow.js': workflow(`phase('One')
await agent('do A', { label: 'A', schema: { type: 'object' }, timeoutMs: 60000 })
await agent('do B', { label: 'B' })
await parallel([() => { throw new Error('oops') }])
throw new Error('end')`),
      'bad.js': workflow('return require("x")'),
    },
  });
  const backend = makeFakeBackend(project, {
    rules: { A: { value: { ok: 1 }, tokens: { in: 1, out: 1, usd: 1 } }, B: { fail: 1 } },
  });
  const told = await runWf(['run', 'flow.js', ...backend.flags, '--reporter', 'jsonl', '--reporter', 'json=run.json'], {
    project,
  });
  const id = newestRun(project);
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await runWf([...args, '--json'], { project })).stdout);

  expectDocumented(readJsonLines(told.stderr), 'Events');
  expectDocumented(JSON.parse(project.read('run.json')), 'The object of `json`', 'Events');
  expectDocumented(await json('ls'), 'wf ls');
  expectDocumented(await json('show', id), 'wf show', 'wf ls');
  expectDocumented(await json('show', id, 'A'), 'wf show');
  expectDocumented(await json('show', id, 'B'), 'wf show');
  expectDocumented(await json('explain', id), 'wf explain');
  expectDocumented(await json('plan', '--resume-from', id), 'wf plan');
  expectDocumented(await json('check', 'bad.js'), 'wf check');
  expectDocumented(await json('stop', id), 'wf stop');
  expectDocumented(await json('doctor'), 'wf doctor');
  expectDocumented(await json('prune', '--keep', '0'), 'wf prune');
  project.write('one.js', workflow("return await agent('x')", 'one'));
  project.write('one.test.json', JSON.stringify({ result: 1, calls: 2 }));
  expectDocumented(await json('test', 'one.js'), 'wf test');
  expectDocumented(JSON.parse((await runWf(['show', 'x', '--json'], { project })).stdout), 'wf show');
});
