/** Reading files of one folder, with limits. What lies outside of it, also behind a link, is refused; nothing is written. */
import { type Dirent, constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';

export interface FileAccess {
  list(path: string, signal: AbortSignal): Promise<string>;
  read(path: string, fromLine: number, signal: AbortSignal): Promise<string>;
  search(text: string, path: string, signal: AbortSignal): Promise<string>;
}

const MAX_LISTED = 1_000;
const MAX_HITS = 200;
const MAX_LINE = 300;
const MAX_SHOWN = 100_000;
const MAX_FILE = 20_000_000;
const MAX_SEARCHED_FILE = 1_000_000;
const MAX_SEARCHED_FILES = 20_000;
const SKIPPED = new Set(['.git', 'node_modules', 'workflow-runs']);

/** @param folder where the agent works */
export function openFileAccess(folder: string): FileAccess {
  let root: Promise<string> | undefined;
  // When it is first needed: a promise that nobody awaits yet would end the whole process where the folder is gone.
  const findRoot = (): Promise<string> => {
    root ??= realpath(folder).catch(() => {
      throw new Error('The working folder is not there.');
    });
    return root;
  };

  const find = async (path: string): Promise<string> => {
    const base = await findRoot();
    const real = await realpath(resolve(base, path)).catch(() => {
      throw new Error(`There is no ${path}.`);
    });
    if (real !== base && !real.startsWith(base === sep ? sep : base + sep))
      throw new Error(`${path} lies outside of the folder.`);
    return real;
  };
  const show = async (path: string): Promise<string> =>
    relative(await findRoot(), path)
      .split(sep)
      .join('/') || '.';

  return {
    async list(path, signal) {
      const names: string[] = [];
      for await (const file of walk(await find(path), signal)) {
        if (names.length >= MAX_LISTED) {
          names.push(`[more than ${MAX_LISTED} files: list a folder below]`);
          break;
        }
        names.push(await show(file));
      }
      return names.join('\n') || '[no files]';
    },
    async read(path, fromLine, signal) {
      const text = await readText(await find(path), MAX_FILE, signal);
      const lines = text.split('\n').slice(Math.max(0, fromLine - 1));
      const shown = lines.join('\n');
      if (shown.length <= MAX_SHOWN) return shown;
      const part = shown.slice(0, MAX_SHOWN);
      return `${part}\n[cut off here; go on from line ${Math.max(1, fromLine) + part.split('\n').length - 1}]`;
    },
    async search(text, path, signal) {
      if (text === '') throw new Error('There is nothing to search for.');
      const hits: string[] = [];
      let searched = 0;
      for await (const file of walk(await find(path), signal)) {
        if (++searched > MAX_SEARCHED_FILES) return `${hits.join('\n')}\n[stopped after ${MAX_SEARCHED_FILES} files]`;
        const content = await readText(file, MAX_SEARCHED_FILE, signal).catch(() => '');
        const name = await show(file);
        for (const [i, line] of content.includes(text) ? content.split('\n').entries() : []) {
          if (!line.includes(text)) continue;
          hits.push(`${name}:${i + 1}: ${line.trim().slice(0, MAX_LINE)}`);
          if (hits.length >= MAX_HITS) return `${hits.join('\n')}\n[stopped after ${MAX_HITS} places]`;
        }
      }
      return hits.join('\n') || '[found nowhere]';
    },
  };
}

/** All plain files below; links are not followed. In order of name. */
async function* walk(path: string, signal: AbortSignal): AsyncGenerator<string> {
  signal.throwIfAborted();
  if ((await stat(path)).isFile()) return yield path;
  const entries: Dirent[] = await readdir(path, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isFile()) yield join(path, entry.name);
    else if (entry.isDirectory() && !SKIPPED.has(entry.name)) yield* walk(join(path, entry.name), signal);
  }
}

async function readText(path: string, limit: number, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  // A pipe would be waited for.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size, isPlain } = await file.stat().then((entry) => ({ size: entry.size, isPlain: entry.isFile() }));
    if (!isPlain) throw new Error('That is no file.');
    if (size > limit) throw new Error(`The file is larger than ${limit} bytes.`);
    const bytes = await file.readFile();
    if (bytes.subarray(0, 8_000).includes(0)) throw new Error('That is no text file.');
    return bytes.toString('utf8');
  } finally {
    await file.close();
  }
}
