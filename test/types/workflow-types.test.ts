/** `wf-engine/workflow` as an author's editor sees it: good scripts have no error, bad ones those that are expected. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';

const ROOT = join(import.meta.dirname, '..', '..');

const HEAD = `// @ts-check
/// <reference types="wf-engine/workflow" />
export const meta = { name: 'typed', description: 'd', phases: [{ title: 'Find' }] }
`;

const GOOD = `${HEAD}
const input = typeof args === 'string' ? JSON.parse(args) : args
args = input
phase('Find')
/** @type {string | null} */
const text = await agent('What is in ' + input.file + '?')
const found = await agent('List them', {
  label: 'list', effort: 'high', stallMs: 60_000, disallowedTools: ['Bash'],
  schema: {
    type: 'object',
    properties: { files: { type: 'array', items: { type: 'string' } }, size: { type: ['number', 'null'] }, kind: { enum: ['a', 'b'] } },
    required: ['files', 'kind'],
  },
})
const files = found ? found.files.map((file) => file.toUpperCase()) : []
/** @type {number | null | undefined} */
const size = found?.size
/** @type {'a' | 'b' | undefined} */
const kind = found?.kind
const base = { model: 'haiku' }
const [one, two] = await parallel([() => agent('x', { ...base, label: 'x' }), async () => 5])
/** @type {string | null} */
const first = one
/** @type {number | null} */
const second = two
const many = await parallel(files.map((file) => () => agent(file)))
many.filter((answer) => answer !== null).map((answer) => answer.length)
const checked = await pipeline(files, (file) => agent(file), (answer, file, index) => ({ answer, file: file.length + index }))
checked.map((row) => row?.file.toFixed())
const told = await agent.settled('y', { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } })
if (told.ok) log(told.value.n.toFixed())
else log(told.cause.code + told.cause.message)
while (budget.total && budget.remaining() > 1000) { log(budget.spent()); break }
const child = await workflow('other', { a: 1 })
await workflow({ scriptPath: './x.js' })
const timer = setTimeout((word) => console.log(word), 5, 'x')
clearTimeout(timer)
/** @type {import('wf-engine/workflow').AgentOptions} */
const options = { timeoutMs: 1, retries: 2, cwd: 'x', tools: [], cache: false, salt: { a: 1 }, deps: ['src/**'], backend: 'mock', isolation: 'worktree' }
await agent('z', options)
// @ts-expect-error a workflow returns at its top level
return { text, size, kind, first, second, child, checked }
`;

const TYPED = `/// <reference types="wf-engine/workflow" />
import type { AgentOptions, FromSchema } from 'wf-engine/workflow'
export const meta = { name: 'typed', description: 'd' }
const schema = { type: 'object', properties: { tags: { type: 'array', items: { enum: ['x', 'y'] } }, at: { anyOf: [{ type: 'string' }, { type: 'null' }] } }, required: ['tags', 'at'] } as const
type Found = FromSchema<typeof schema>
const check: Found = { tags: ['x', 'y'], at: null }
const options: AgentOptions = { label: 'l' }
const answer: Found | null = await agent('a', { ...options, schema })
const loose: Record<string, unknown> = { type: 'object' }
const anything = await agent('b', { schema: loose })
anything.whatever.it.is
export {}
log([check, answer])
`;

/** Each line that is wrong names the code of its error. */
const BAD = `${HEAD}
agent(5) // TS2345
const text = await agent('a')
text.length // TS18047
agent('b', { effort: 'super' }) // TS2769
agent('b', { lable: 'x' }) // TS2769
agent('b', { isolation: 'remote' }) // TS2769
parallel([agent('c')]) // TS2322
parallel('abc') // TS2345
pipeline('abc', (item) => item) // TS2769
const found = await agent('d', { schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } })
found?.n.toUpperCase() // TS2339
found?.m // TS2339
budget.total = 5 // TS2540
workflow(3) // TS2345
agent = 5 // TS2322
phase() // TS2554
setTimeout('code', 5) // TS2345
const told = await agent.settled('e')
told.value // TS2339
`;

let project: TestProject;
let errors: Record<string, [line: number, code: string][]>;

beforeAll(() => {
  project = makeProject({
    until: 'file',
    files: {
      'good.js': GOOD,
      'typed.ts': TYPED,
      'bad.js': BAD,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          target: 'esnext',
          module: 'nodenext',
          lib: ['esnext'],
          types: [],
          strict: true,
          noEmit: true,
          allowJs: true,
        },
        include: ['*.js', '*.ts'],
      }),
      // As in a project that works for the browser: the same names stand in its library too.
      'dom/tsconfig.json': JSON.stringify({
        extends: '../tsconfig.json',
        compilerOptions: { lib: ['esnext', 'dom'] },
        include: ['../good.js', '../typed.ts'],
      }),
      // As in a project for Node.
      'node/tsconfig.json': JSON.stringify({
        extends: '../tsconfig.json',
        compilerOptions: { types: ['node'], typeRoots: [join(ROOT, 'node_modules', '@types')] },
        include: ['../good.js', '../typed.ts'],
      }),
      'package.json': '{ "type": "module" }',
    },
  });
  mkdirSync(project.path('node_modules'));
  symlinkSync(ROOT, project.path('node_modules', 'wf-engine'));
  errors = compile('.');
});

function compile(folder: string): typeof errors {
  let output = '';
  try {
    output = execFileSync(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', folder, '--pretty', 'false'], {
      cwd: project.dir,
      env: project.env,
      encoding: 'utf8',
    });
  } catch (error) {
    output = (error as { stdout: string }).stdout;
  }
  const found: typeof errors = {};
  for (const [text, file = '', line, code = ''] of output.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+): .*$/gm)) {
    found[file] ??= [];
    found[file].push([Number(line), code]);
    if (file !== 'bad.js') console.log(text);
  }
  return found;
}

describe('wf-engine/workflow', () => {
  it('a good script has no error, in JavaScript with @ts-check and in TypeScript', () => {
    expect(errors['good.js'] ?? []).toEqual([]);
    expect(errors['typed.ts'] ?? []).toEqual([]);
  });

  it('a bad one has the expected error in each line', () => {
    const expected = BAD.split('\n').flatMap((line, i) => {
      const code = /\/\/ (TS\d+)$/.exec(line)?.[1];
      return code === undefined ? [] : [[i + 1, code]];
    });
    expect(errors['bad.js']).toEqual(expected);
  });

  it('nothing else is wrong; it goes together with the types of a browser and of Node', () => {
    expect(Object.keys(errors)).toEqual(['bad.js']);
    expect([compile('dom'), compile('node')]).toEqual([{}, {}]);
  });
});
