/** Digest of the files that a call depends on: their names and contents, as they are at the moment of the call. */
import { createHash } from 'node:crypto';
import { createReadStream, realpathSync, statSync } from 'node:fs';
import { isAbsolute, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { HashDeps } from '../engine/engine-options.js';
import { messageOf } from '../shared/errors.js';
import { wayInside } from '../shared/way-inside.js';

const MAX_FILES = 10_000;
/** Up to so many files the record names each, so that a change can be told by name. */
const MAX_NAMED = 200;

/**
 * @param root no pattern may leave this folder
 * @param signal ends the reading of files that nobody waits for any more
 * @param warn told once of patterns that name no file as they stand: an answer would be reused whatever is edited
 */
export function createHashDeps(
  root: string,
  startFolder: string,
  signal: AbortSignal,
  warn: (message: string) => void,
): HashDeps {
  const known = new Map<string, { stamp: string; digest: string }>();
  const warned = new Set<string>();
  return async (patterns, cwd) => {
    try {
      const realRoot = realpathSync(root);
      const base = cwd === null ? startFolder : resolve(root, cwd);
      if (!isInside(realRoot, base)) return { digest: null, message: OUTSIDE };
      const files = await findFiles(patterns, base, realRoot, signal);
      if (typeof files === 'string') return { digest: null, message: files };
      for (const message of describeIdle(patterns, files, base, realRoot)) {
        if (!warned.has(message)) warn(message);
        warned.add(message);
      }
      const digests: Record<string, string> = {};
      const sum = createHash('sha256');
      for (const file of files) {
        const digest = await hashFile(resolve(base, file), known, signal);
        sum.update(`${file}\0${digest}\n`);
        digests[file] = digest.slice(0, 16);
      }
      return { digest: sum.digest('hex'), ...(files.length <= MAX_NAMED ? { files: digests } : {}) };
    } catch (error) {
      return {
        digest: null,
        message: `the files of deps cannot be read: ${messageOf(error).replace(/'[^']*'/g, 'a file')}`,
      };
    }
  };
}

/** Names nothing that lies outside: a script must not learn what is there. */
const OUTSIDE = 'option deps leaves the project';

async function findFiles(
  patterns: readonly string[],
  base: string,
  root: string,
  signal: AbortSignal,
): Promise<string[] | string> {
  if (patterns.some((pattern) => isAbsolute(pattern))) return OUTSIDE;
  const { glob } = await import('tinyglobby');
  const files = await glob([...patterns], {
    cwd: base,
    dot: true,
    expandDirectories: false,
    followSymbolicLinks: false,
    ignore: ['**/.git/**', '**/.claude/workflow-runs/**'],
    signal,
  });
  // It resolves with what it has found so far.
  signal.throwIfAborted();
  if (files.length > MAX_FILES) return `option deps names ${files.length} files; the limit is ${MAX_FILES}`;
  const outside = files.find((file) => !isInside(root, resolve(base, file)));
  if (outside !== undefined) return OUTSIDE;
  return files.map((file) => file.split(sep).join('/')).sort();
}

/** A pattern names files. The name of a folder alone, which is easily written, names none of those in it. */
function describeIdle(patterns: readonly string[], files: readonly string[], base: string, root: string): string[] {
  const folders = patterns.filter((pattern) => isFolderInside(root, resolve(base, pattern)));
  if (folders.length > 0)
    return folders.map((folder) => {
      const inIt = `${folder.replace(/\/+$/, '') || '.'}/**`;
      return `deps: ${JSON.stringify(folder)} is a folder, and names none of the files in it: write ${JSON.stringify(inIt)}. Until then an edit there that no other pattern names does not make the call run again.`;
    });
  if (files.length > 0) return [];
  return [
    `deps: no file fits ${patterns.map((pattern) => JSON.stringify(pattern)).join(', ')} now. One that comes there later makes the call run again.`,
  ];
}

function isFolderInside(root: string, path: string): boolean {
  try {
    return statSync(path).isDirectory() && isInside(root, path);
  } catch {
    // Nothing is there, or it is no path at all: most patterns are none.
    return false;
  }
}

const isInside = (root: string, path: string): boolean => wayInside(root, realpathSync(path)) !== undefined;

/** A file that kept its size and times is not read again. */
async function hashFile(
  path: string,
  known: Map<string, { stamp: string; digest: string }>,
  signal: AbortSignal,
): Promise<string> {
  const stat = statSync(path, { bigint: true });
  const stamp = `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  const earlier = known.get(path);
  if (earlier?.stamp === stamp) return earlier.digest;
  const sum = createHash('sha256');
  await pipeline(createReadStream(path), sum, { signal });
  const digest = sum.digest('hex');
  known.set(path, { stamp, digest });
  return digest;
}
