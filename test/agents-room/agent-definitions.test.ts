import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { BUILT_IN_AGENT_TYPES, isBuiltInAgentType, loadAgentDefinitions } from '../../src/agents/agent-definitions.js';
import { BACKEND_NAMES, createBackend } from '../../src/agents/choose-backend.js';
import { makeTempFolder } from '../support/temp-folder.js';

let folder: string;
beforeEach(() => {
  folder = makeTempFolder('agents');
});

function write(file: string, text: string): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const load = (cwd = 'root/a/b') =>
  loadAgentDefinitions({ cwd: join(folder, cwd), root: join(folder, 'root'), home: join(folder, 'home') });

test('all fields of a definition', async () => {
  const text = `---\nname: reviewer\ndescription: Reviews code\nmodel: opus\neffort: high\ntools: Read, Grep, Bash(git log:*, git diff:*)\ndisallowedTools:\n  - Write\n  - Edit\nextra: 1\n---\n\nYou review.\n\n---\nMore.\n`;
  const file = write('root/.claude/agents/deep/reviewer.md', text);
  expect((await load()).get('reviewer')).toEqual({
    name: 'reviewer',
    file,
    digest: createHash('sha256').update(text).digest('hex'),
    description: 'Reviews code',
    prompt: 'You review.\n\n---\nMore.',
    model: 'opus',
    effort: 'high',
    tools: ['Read', 'Grep', 'Bash(git log:*, git diff:*)'],
    disallowedTools: ['Write', 'Edit'],
  });
});

test('closest first, then those of the user (B-112)', async () => {
  for (const [place, word] of [
    ['root/a/b', 'near'],
    ['root', 'far'],
    ['home', 'user'],
    ['.', 'above'],
  ]) {
    write(`${place}/.claude/agents/x.md`, `---\nname: x\n---\n${word}`);
    write(`${place}/.claude/agents/${word}.md`, word as string);
  }
  const found = await load();
  expect(found.get('x')?.prompt).toBe('near');
  expect([...found.keys()].sort()).toEqual(['far', 'near', 'user', 'x']);
  expect((await load('root')).get('x')?.prompt).toBe('far');
  expect((await load('elsewhere')).get('x')?.prompt).toBe('far');
});

test('front matter that is no YAML is read line by line', async () => {
  write(
    'root/.claude/agents/a.md',
    '---\r\nname: lenient\r\ndescription: Use this: when something: happens\r\ntools:\r\n  - Read\r\n  - "Grep"\r\nmodel: \'haiku\'\r\nnotes: >\r\n  two\r\n  lines\r\n---\r\nBody',
  );
  expect((await load()).get('lenient')).toMatchObject({
    description: 'Use this: when something: happens',
    tools: ['Read', 'Grep'],
    model: 'haiku',
    prompt: 'Body',
  });
});

test.each<[string, string, object]>([
  [
    'no front matter',
    'Just a prompt.',
    { name: 'f', prompt: 'Just a prompt.', tools: undefined, description: undefined },
  ],
  ['empty front matter', '---\n---\nBody', { name: 'f', prompt: 'Body' }],
  ['never closed', '---\nname: x\nBody', { name: 'f' }],
  ['no tools at all', '---\ntools: []\nmodel: inherit\n---\n', { tools: [], model: undefined }],
  ['empty tools', "---\ntools: ''\n---\n", { tools: [] }],
  ['null', '---\nname:\ntools: ~\nmodel: 4\n---\n', { name: 'f', tools: undefined, model: '4' }],
  ['a list as front matter', '---\n- a\n- b\n---\nBody', { name: 'f', prompt: 'Body' }],
  ['a byte order mark', '\ufeff---\nname: f\nmodel: m\n---\nBody', { model: 'm', prompt: 'Body' }],
])('%s', async (_name, text, expected) => {
  write('root/.claude/agents/f.md', text);
  expect([...(await load()).values()][0]).toMatchObject(expected);
});

test('a front matter never runs code', async () => {
  (globalThis as { ran?: boolean }).ran = false;
  write('root/.claude/agents/js.md', '---js\nglobalThis.ran = true\n---\nBody');
  write('root/.claude/agents/tag.md', '---\nname: !!js/function "function(){globalThis.ran = true}"\n---\nBody');
  await load();
  expect((globalThis as { ran?: boolean }).ran).toBe(false);
});

test('two of one name in one folder are refused with both places; links to folders are not followed', async () => {
  write('root/.claude/agents/one.md', '---\nname: twin\n---\n');
  symlinkSync(join(folder, 'root/.claude/agents'), join(folder, 'root/.claude/agents/loop'));
  expect([...(await load()).keys()]).toEqual(['twin']);
  write('root/.claude/agents/sub/two.md', '---\nname: twin\n---\n');
  await expect(load()).rejects.toThrow(
    expect.objectContaining({ code: 'WF_AGENT_DEFINITION', message: expect.stringMatching(/one\.md and .*two\.md/) }),
  );
});

test('nothing there', async () => {
  expect((await load()).size).toBe(0);
  expect((await loadAgentDefinitions({ cwd: folder, root: folder, home: undefined })).size).toBe(0);
});

test('types that need no file', () => {
  for (const name of [...BUILT_IN_AGENT_TYPES, 'plugin:name', 'a-b:c d']) expect(isBuiltInAgentType(name)).toBe(true);
  for (const name of ['reviewer', '', ':', 'x:', ':x', 'a b:c']) expect(isBuiltInAgentType(name)).toBe(false);
});

test('a backend by its name, never another one', async () => {
  expect(BACKEND_NAMES).toEqual(['claude', 'codex', 'acp', 'ai-sdk', 'command', 'mock']);
  expect((await createBackend('mock')).name).toBe('mock');
  expect((await createBackend('command', { command: 'cat' })).name).toBe('command');
  expect(
    await (await createBackend('command', { command: ['cat', 'a b'], env: { PATH: process.env.PATH } })).probe(),
  ).toMatchObject({ ok: true });
  for (const name of ['', 'nobody', 'toString', '__proto__']) {
    await expect(createBackend(name)).rejects.toThrow(
      expect.objectContaining({ code: 'WF_BACKEND_UNKNOWN', remedy: expect.stringContaining('mock') }),
    );
  }
  await expect(createBackend('comand')).rejects.toThrow('Did you mean command?');
  await expect(createBackend('command')).rejects.toThrow(expect.objectContaining({ code: 'WF_BACKEND_CONFIG' }));
  await expect(createBackend('command', { command: `a 'b` })).rejects.toThrow(
    expect.objectContaining({ code: 'WF_BACKEND_CONFIG' }),
  );
  await expect(createBackend('mock', { mock: '/nowhere.json' })).rejects.toThrow(
    expect.objectContaining({ code: 'WF_MOCK_FILE' }),
  );
});
