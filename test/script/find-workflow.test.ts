import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findWorkflow } from '../../src/script/find-workflow.js';
import { decode, readScriptFile } from '../../src/script/read-script-file.js';
import { listWorkflows } from '../../src/script/saved-workflows.js';
import { WfError } from '../../src/shared/errors.js';
import { makeProject } from '../support/temp-project.js';

const workflow = (name: string, text = '') =>
  `export const meta = { name: '${name}', description: 'About ${name}', whenToUse: 'now' }\n${text}`;

function project(files: Record<string, string> = {}) {
  const { dir, home, write, path, root } = makeProject({ files });
  const places = { cwd: dir, root: dir, home };
  return { dir, home, write, path, root, places };
}

function failure(work: () => unknown): WfError {
  try {
    work();
  } catch (error) {
    if (WfError.is(error)) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}

describe('B-112 a file', () => {
  test('by its path, relative to the cwd, absolute, or without an ending', () => {
    const { places, dir, path } = project({ 'a.js': workflow('a'), 'sub/b.mts': workflow('b'), plain: workflow('c') });
    expect(findWorkflow('a.js', places)).toEqual({ path: path('a.js'), source: workflow('a'), language: 'js' });
    expect(findWorkflow('./sub/b.mts', places)).toMatchObject({ path: path('sub/b.mts'), language: 'ts' });
    expect(findWorkflow('../a.js', { ...places, cwd: join(dir, 'sub') }).path).toBe(path('a.js'));
    expect(findWorkflow(path('a.js'), places).path).toBe(path('a.js'));
    expect(findWorkflow('plain', places)).toMatchObject({ path: path('plain'), language: 'js' });
  });
  test('a link is followed to the real file', () => {
    const { places, path, dir } = project({ 'real/a.ts': workflow('a') });
    symlinkSync(path('real/a.ts'), join(dir, 'link.js'));
    expect(findWorkflow('link.js', places).path).toBe(path('real/a.ts'));
  });
  test('the text is exact: byte order mark, CRLF', () => {
    const source = `\ufeff${workflow('a', 'return 1\r\n')}`;
    const { places } = project({ 'a.js': source });
    expect(findWorkflow('a.js', places).source).toBe(source);
  });
  test('that is not there, with the saved workflow that was meant', () => {
    const { places } = project({ '.claude/workflows/review.js': workflow('review') });
    for (const asked of ['review.js', './reveiw.js', 'x/review.workflow.js']) {
      const error = failure(() => findWorkflow(asked, places));
      expect(error).toMatchObject({ code: 'WF_SCRIPT_NOT_FOUND', exitCode: 2 });
      expect(error.message).toContain('there is no such file');
      expect(error.remedy).toContain('`review`');
    }
    expect(failure(() => findWorkflow('./elsewhere/quite.js', places)).remedy).not.toContain('review');
  });
  test('that cannot be read', () => {
    const { places, dir } = project({ 'a.js': workflow('a') });
    mkdirSync(join(dir, 'folder.js'));
    expect(failure(() => findWorkflow('folder.js', places)).message).toContain('it is a folder');
    expect(failure(() => findWorkflow('a.js/b.js', places)).message).toContain('there is no such file');
    execFileSync('mkfifo', [join(dir, 'pipe.js')]);
    expect(failure(() => findWorkflow('pipe.js', places)).message).toContain('not a regular file');
    expect(failure(() => findWorkflow('a\0.js', places)).code).toBe('WF_SCRIPT_NOT_FOUND');
  });
  test('that may not be read', ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may read everything');
    const { places, path } = project({ 'a.js': workflow('a') });
    chmodSync(path('a.js'), 0o000);
    expect(failure(() => findWorkflow('a.js', places)).message).toContain('permission denied');
  });
  test('that is too large is not read', () => {
    const { places } = project({ 'a.js': 'x'.repeat(524_289) });
    expect(failure(() => findWorkflow('a.js', places))).toMatchObject({ code: 'WF_SCRIPT_SIZE' });
  });
});

describe('bytes that are no UTF-8', () => {
  const bytes = (...parts: (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))));
  test('are named with their place', () => {
    for (const bad of [bytes(0xff), bytes(0xe9), bytes(0xc3, 0x28), bytes(0xed, 0xa0, 0x80), bytes(0xf0, 0x9f, 0x98)]) {
      const error = failure(() => decode(bytes('a\r\né🙂', ...bad, '\nx'), 'a.js'));
      expect(error).toMatchObject({ code: 'WF_SCRIPT_SYNTAX', place: { line: 2, column: 4 } });
      expect(error.message).toContain('at offset 9');
      expect(error.remedy).toContain('UTF-8');
    }
  });
  test('at the very end and the very start', () => {
    expect(failure(() => decode(bytes('ab', 0xe2, 0x82), 'a.js'))).toMatchObject({ place: { line: 1, column: 3 } });
    expect(failure(() => decode(bytes(0x80, 'ab'), 'a.js'))).toMatchObject({ place: { line: 1, column: 1 } });
  });
  test('UTF-16 is told as such', () => {
    const error = failure(() => decode(Buffer.from(`\ufeff${workflow('a')}`, 'utf16le'), 'a.js'));
    expect(error.message).toContain('UTF-16');
  });
  test('a file of them', () => {
    const { write } = makeProject();
    const file = write('a.js', Buffer.from([0x2f, 0x2f, 0xfc]));
    expect(failure(() => readScriptFile(file))).toMatchObject({
      code: 'WF_SCRIPT_SYNTAX',
      place: { line: 1, column: 3 },
    });
  });
});

describe('B-112 a saved workflow', () => {
  test('by its meta.name, with every ending', () => {
    const { places, path } = project({
      '.claude/workflows/1.js': workflow('one'),
      '.claude/workflows/2.mjs': workflow('two'),
      '.claude/workflows/3.ts': workflow('three').replace(' =', ': Meta ='),
      '.claude/workflows/4.mts': workflow('four'),
      '.claude/workflows/5.txt': workflow('five'),
    });
    for (const [name, file, language] of [
      ['one', '1.js', 'js'],
      ['two', '2.mjs', 'js'],
      ['three', '3.ts', 'ts'],
      ['four', '4.mts', 'ts'],
    ] as const)
      expect(findWorkflow(name, places)).toMatchObject({ name, path: path('.claude/workflows', file), language });
    expect(failure(() => findWorkflow('five', places)).code).toBe('WF_SCRIPT_NOT_FOUND');
  });
  test('by its file name, when no meta has the name', () => {
    const { places, path } = project({
      '.claude/workflows/audit.workflow.js': workflow('full audit'),
      '.claude/workflows/other.js': workflow('review'),
      '.claude/workflows/review.js': workflow('third'),
    });
    expect(findWorkflow('audit', places)).toMatchObject({
      name: 'full audit',
      path: path('.claude/workflows/audit.workflow.js'),
    });
    expect(findWorkflow('review', places).path).toBe(path('.claude/workflows/other.js'));
    expect(findWorkflow('full audit', places).name).toBe('full audit');
  });
  test('the closest wins: from the cwd up to the root, then the home', () => {
    const { places, home, dir, path, write } = project({
      '.claude/workflows/r.js': workflow('review', '// root'),
      'a/.claude/workflows/r.js': workflow('review', '// a'),
      'a/b/x': '',
    });
    write('../home/.claude/workflows/h.js', workflow('review', '// home'));
    write('../home/.claude/workflows/i.js', workflow('mine'));
    write('../.claude/workflows/o.js', workflow('outside'));
    const from = (cwd: string) => findWorkflow('review', { ...places, cwd }).source.split('// ')[1];
    expect(from(path('a/b'))).toBe('a');
    expect(from(path('a'))).toBe('a');
    expect(from(dir)).toBe('root');
    expect(findWorkflow('mine', { ...places, cwd: path('a/b') }).path).toBe(join(home, '.claude/workflows/i.js'));
    expect(failure(() => findWorkflow('outside', places)).code).toBe('WF_SCRIPT_NOT_FOUND');
    expect(failure(() => findWorkflow('mine', { ...places, home: undefined })).code).toBe('WF_SCRIPT_NOT_FOUND');
  });
  test('a close file name does not hide the name of a farther workflow', () => {
    const { places, home, write } = project({ '.claude/workflows/review.js': workflow('something else') });
    write('../home/.claude/workflows/r.js', workflow('review'));
    expect(findWorkflow('review', places).path).toBe(join(home, '.claude/workflows/r.js'));
  });
  test('two files of one name in one folder: an error that lists both', () => {
    const { places, path } = project({
      '.claude/workflows/a.js': workflow('review'),
      '.claude/workflows/b.mjs': workflow('review'),
      '.claude/workflows/c.js': workflow('other'),
      '.claude/workflows/c.ts': workflow('another'),
    });
    const error = failure(() => findWorkflow('review', places));
    expect(error).toMatchObject({ code: 'WF_SCRIPT_AMBIGUOUS', exitCode: 2 });
    expect(error.message).toContain(path('.claude/workflows/a.js'));
    expect(error.message).toContain(path('.claude/workflows/b.mjs'));
    expect(failure(() => findWorkflow('c', places)).code).toBe('WF_SCRIPT_AMBIGUOUS');
  });
  test('a link to the same file is not a second one', () => {
    const { places, path } = project({ '.claude/workflows/a.js': workflow('review') });
    symlinkSync(path('.claude/workflows/a.js'), path('.claude/workflows/b.js'));
    expect(findWorkflow('review', places).path).toBe(path('.claude/workflows/a.js'));
  });
  test('a farther folder may be ambiguous when a closer one decides', () => {
    const { places, path } = project({
      '.claude/workflows/a.js': workflow('review'),
      '.claude/workflows/b.js': workflow('review'),
      'sub/.claude/workflows/c.js': workflow('review'),
    });
    expect(findWorkflow('review', { ...places, cwd: path('sub') }).path).toBe(path('sub/.claude/workflows/c.js'));
  });
  test('an unknown name: what was looked for, what there is, what was meant, what is broken', () => {
    const { places, path, home } = project({
      '.claude/workflows/review.js': workflow('review-files'),
      '.claude/workflows/broken.js': 'export const meta = { name: make() }',
    });
    const error = failure(() => findWorkflow('reveiw-files', places));
    expect(error.code).toBe('WF_SCRIPT_NOT_FOUND');
    for (const part of [
      path('reveiw-files'),
      path('.claude/workflows'),
      join(home, '.claude/workflows'),
      'review-files',
      `${path('.claude/workflows/broken.js')}: meta.name must be a literal value, found a call`,
    ])
      expect(error.message).toContain(part);
    expect(error.remedy).toBe('Did you mean `review-files`?');
  });
  test('without any workflow', () => {
    const { places } = project();
    for (const name of ['review', '', ' ', '..'])
      expect(failure(() => findWorkflow(name, places))).toMatchObject({ code: 'WF_SCRIPT_NOT_FOUND' });
  });
  test('a file with broken meta is still found by its file name, so that its fault is shown', () => {
    const { places, path } = project({ '.claude/workflows/broken.js': 'return 1' });
    expect(findWorkflow('broken', places)).toEqual({
      name: 'broken',
      path: path('.claude/workflows/broken.js'),
      source: 'return 1',
      language: 'js',
    });
    makeBad(path('.claude/workflows/bytes.js'));
    expect(failure(() => findWorkflow('bytes', places))).toMatchObject({ code: 'WF_SCRIPT_SYNTAX' });
  });
  test('a fault in the body does not hide the name', () => {
    const { places } = project({ '.claude/workflows/a.js': workflow('review', 'if (') });
    expect(findWorkflow('review', places).name).toBe('review');
  });
  test('an edit is seen at once', () => {
    const { places, write } = project({ '.claude/workflows/a.js': workflow('review', '// 1') });
    findWorkflow('review', places);
    write('.claude/workflows/a.js', workflow('review', '// 2'));
    expect(findWorkflow('review', places).source).toContain('// 2');
  });
});

function makeBad(path: string): void {
  execFileSync('sh', ['-c', 'printf "\\377" > "$0"', path]);
}

describe('listWorkflows', () => {
  test('tells which file would run for which name', () => {
    const { places, path, home, write } = project({
      'sub/.claude/workflows/r.ts': workflow('review'),
      '.claude/workflows/r.js': workflow('review'),
      '.claude/workflows/x.js': workflow('twin'),
      '.claude/workflows/y.js': workflow('twin'),
      '.claude/workflows/bad.js': 'const x = 1',
      '.claude/workflows/notes.md': '# x',
    });
    write('../home/.claude/workflows/z.js', workflow('audit'));
    const { workflows, skipped } = listWorkflows({ ...places, cwd: path('sub') });
    expect(
      workflows.map(({ name, path: file, scope, state, language }) => [name, file, scope, state, language]),
    ).toEqual([
      ['review', path('sub/.claude/workflows/r.ts'), 'project', 'runs', 'ts'],
      ['review', path('.claude/workflows/r.js'), 'project', 'hidden', 'js'],
      ['twin', path('.claude/workflows/x.js'), 'project', 'ambiguous', 'js'],
      ['twin', path('.claude/workflows/y.js'), 'project', 'ambiguous', 'js'],
      ['audit', join(home, '.claude/workflows/z.js'), 'user', 'runs', 'js'],
    ]);
    expect(workflows[0]).toMatchObject({ description: 'About review', whenToUse: 'now' });
    expect(skipped).toEqual([
      { path: path('.claude/workflows/bad.js'), reason: 'it does not begin with `export const meta = {…}`' },
    ]);
  });
  test('B-106 nothing is executed, and a folder of hostile files is listed fast', () => {
    const hostile = 'export const meta = { name: (() => { for (;;); })(), description: (() => { throw 1 })() }';
    const files = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        `.claude/workflows/${i}.js`,
        i % 2 ? workflow(`w${i}`, 'x = ('.repeat(5_000)) : hostile,
      ]),
    );
    const { places } = project(files);
    const { workflows, skipped } = listWorkflows(places);
    expect([workflows.length, skipped.length]).toEqual([50, 50]);
  });
  test('home above the project, and a cwd outside of the root', () => {
    const { places, dir, path, root } = project({ '.claude/workflows/a.js': workflow('a'), 'x/y': '' });
    expect(listWorkflows({ cwd: path('x'), root: dir, home: dir }).workflows).toMatchObject([
      { name: 'a', scope: 'project' },
    ]);
    expect(listWorkflows({ ...places, cwd: root }).workflows).toMatchObject([{ name: 'a' }]);
    expect(listWorkflows({ cwd: '/', root: '/', home: dir }).workflows).toMatchObject([{ name: 'a', scope: 'user' }]);
  });
  test('special files in a workflows folder are skipped, not opened', () => {
    const { places, path } = project({ '.claude/workflows/a.js': workflow('a') });
    execFileSync('mkfifo', [path('.claude/workflows/pipe.js')]);
    symlinkSync('/nowhere', path('.claude/workflows/dangling.js'));
    mkdirSync(path('.claude/workflows/folder.js'));
    const { workflows, skipped } = listWorkflows(places);
    expect(workflows).toHaveLength(1);
    expect(skipped).toHaveLength(3);
  });
});
