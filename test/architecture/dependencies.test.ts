/** The arrows between the rooms of src/, and what the rooms that must not know the process may not touch. */
import { describe, expect, it } from 'vitest';
import { importsOf, linesWith, readText, sourceFiles, withoutStrings } from './repository.js';

/** Room → rooms that it may import besides itself. `api` joins the rooms, `index` is the library's front door. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  shared: [],
  journal: ['shared'],
  agents: ['shared'],
  script: ['shared'],
  config: ['agents', 'shared'],
  runs: ['journal', 'shared'],
  engine: ['script', 'journal', 'agents', 'shared'],
  report: ['runs', 'engine', 'shared'],
  api: ['agents', 'config', 'engine', 'journal', 'runs', 'script', 'shared'],
  index: ['agents', 'api', 'config', 'engine', 'journal', 'report', 'runs', 'script', 'shared'],
  cli: ['agents', 'api', 'config', 'engine', 'index', 'journal', 'report', 'runs', 'script', 'shared'],
};

/** `src/engine/events.ts` → `engine`, `src/index.ts` → `index`. */
const roomOf = (file: string): string => file.split('/')[1]?.replace(/\.ts$/, '') ?? '';

const files = sourceFiles();
const imports = files.flatMap((file) => importsOf(file).map((found) => ({ file, room: roomOf(file), ...found })));

describe('dependencies', () => {
  it('finds the imports of a text', () => {
    const text = [
      "import { a, type B } from '../shared/ids.js';",
      "import type { C } from './c.js';",
      "import {\n  type D,\n  type E,\n} from 'zod';",
      "export { f } from './f.js';",
      "export * from './g.js';",
      "// import { no } from './comment.js';",
      "/** import { no } from './doc.js'; */",
      "const h = await import('./h.js');",
      "type I = typeof import('./i.js');",
    ].join('\n');
    expect(importsOf('src/runs/x.ts', text).map((found) => [found.target ?? found.specifier, found.typeOnly])).toEqual([
      ['src/shared/ids.ts', false],
      ['src/runs/c.ts', true],
      ['zod', true],
      ['src/runs/f.ts', false],
      ['src/runs/g.ts', false],
      ['src/runs/h.ts', false],
      ['src/runs/i.ts', true],
    ]);
  });

  it('knows every room', () => {
    expect(files.length).toBeGreaterThan(10);
    expect([...new Set(files.map(roomOf))].filter((room) => !MAY_IMPORT[room])).toEqual([]);
  });

  it('point one way', () => {
    const wrong = imports.filter(({ room, target }) => {
      if (!target) return false;
      const to = roomOf(target);
      return to !== room && !MAY_IMPORT[room]?.includes(to);
    });
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  it('lead to files that exist', () => {
    const lost = imports.filter(({ target }) => target?.endsWith('.ts') && !files.includes(target));
    expect(lost.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  it('of report are the types of runs and the events of the engine', () => {
    const wrong = imports.filter(
      ({ room, target, typeOnly }) =>
        room === 'report' &&
        target !== undefined &&
        ((roomOf(target) === 'runs' && !typeOnly) ||
          (roomOf(target) === 'engine' && target !== 'src/engine/events.ts')),
    );
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  it('of the code inside the isolate are its own files and types', () => {
    const inside = 'src/engine/sandbox/prelude/';
    // A list of words and nothing else.
    const words = 'src/shared/agent-options.ts';
    const wrong = imports.filter(
      ({ file, target, typeOnly }) =>
        file.startsWith(inside) && !typeOnly && target !== words && !target?.startsWith(inside),
    );
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });
});

/** The one process of its own kind in the engine's folder, and its pipe. */
const SANDBOX_PROCESS = 'src/engine/sandbox/main.ts';
const MAY_USE_FILES = [SANDBOX_PROCESS, 'src/engine/sandbox/channel.ts', 'src/journal/file-store.ts'];

describe('engine and journal', () => {
  const inside = files.filter((file) => ['engine', 'journal'].includes(roomOf(file)));

  it('do not know the process or the console', () => {
    const uses = inside
      .filter((file) => file !== SANDBOX_PROCESS)
      .flatMap((file) =>
        linesWith(
          withoutStrings(readText(file)),
          /(?<![\w.$])(process|console)\s*(\.|\?\.|\[)|globalThis\.(process|console)\b/,
        ).map((line) => `${file}:${line}`),
      );
    const modules = imports.filter(
      ({ file, specifier }) => inside.includes(file) && /^(node:)?(process|console)$/.test(specifier),
    );
    expect([...uses, ...modules.map(({ file, specifier }) => `${file} imports ${specifier}`)]).toEqual([]);
  });

  it('touch files only in the journal’s file store and in the sandbox process', () => {
    const wrong = imports.filter(
      ({ file, specifier }) =>
        inside.includes(file) &&
        /^((node:)?fs(\/promises)?|fs-extra)$/.test(specifier) &&
        !MAY_USE_FILES.includes(file),
    );
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
    const pipe = imports.filter(({ file, specifier }) => file === MAY_USE_FILES[1] && specifier === 'node:fs');
    expect(pipe.flatMap(({ names }) => names).filter((name) => !['readSync', 'writeSync'].includes(name))).toEqual([]);
  });
});
