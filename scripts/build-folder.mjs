// What makes a build safe beside other builds and running tests: a digest of its sources, a lock, an exchange of folders.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const STAMP_FILE = '.build-stamp';

/** Digest of everything that decides what dist/ holds; content, not times, so that a checkout or a touch changes nothing. */
export function digestOfSources(root) {
  const hash = createHash('sha256');
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const own = ['scripts/build.mjs', 'tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'];
  for (const file of [...files, ...own.map((name) => join(root, name))]) {
    const bytes = readIfThere(file);
    if (bytes) hash.update(`${file.slice(root.length)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

/** The digest that a built folder was made from, or `undefined`. */
export const stampOf = (folder) => readIfThere(join(folder, STAMP_FILE))?.toString().trim();

/**
 * Runs one build at a time: others wait, then look again. Correctness does not rest on it (each build has its own folder
 * and the exchange bears company); it only saves work. A lock whose process is gone is passed over.
 */
export async function withBuildLock(root, work) {
  const builds = join(root, '.build');
  const lock = join(builds, 'lock');
  const folder = join(builds, `dist-${process.pid}`);
  mkdirSync(builds, { recursive: true });
  const held = await takeLock(lock);
  try {
    for (const name of readdirSync(builds)) {
      if (name.startsWith('dist-') && !isAlive(Number(name.split('-').at(-1)))) remove(join(builds, name));
    }
    remove(folder);
    mkdirSync(folder);
    await work(folder);
  } finally {
    remove(folder);
    if (held) rmSync(lock, { force: true });
  }
}

/** Puts `fresh` where `place` is. Readers see the old folder or the new one, but for the instant between two renames. */
export function replaceFolder(place, fresh) {
  const old = `${fresh}-old-${process.pid}`;
  for (let tries = 0; ; tries++) {
    try {
      if (existsSync(place)) renameSync(place, old);
      renameSync(fresh, place);
      break;
    } catch (error) {
      // Another build put its folder there, or took it away, in between.
      if (tries === 100 || !['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
      remove(old);
    }
  }
  remove(old);
}

/** Waits for the lock for at most two minutes; after that the build goes on without it. */
async function takeLock(lock) {
  for (let waited = 0; waited < 120_000; waited += 50) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return true;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const owner = Number(readIfThere(lock)?.toString());
      if (owner && !isAlive(owner)) rmSync(lock, { force: true });
    }
    await sleep(50);
  }
  return false;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
