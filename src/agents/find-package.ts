/**
 * Finds a package that the user has installed: in the project first, then beside this program. The command may be
 * installed globally, so its own `import` does not see what a project holds.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export interface FoundPackage {
  version: string;
  /** Folder of the package, real path. */
  folder: string;
  /** What `import()` takes; absent for a package without an entry for ES modules. */
  url: string | undefined;
}

/** @param folders where to start; from each upwards through all `node_modules` */
export function findPackage(name: string, folders: readonly string[]): FoundPackage | undefined {
  for (const start of [...folders, dirname(fileURLToPath(import.meta.url))]) {
    for (let folder = start; ; folder = dirname(folder)) {
      const found = readPackage(join(folder, 'node_modules', name));
      if (found) return found;
      if (folder === dirname(folder)) break;
    }
  }
  return undefined;
}

function readPackage(folder: string): FoundPackage | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const real = realpathSync(folder);
    const entry = findEntry(manifest.exports?.['.'] ?? manifest.exports) ?? manifest.module ?? manifest.main;
    const url = typeof entry === 'string' ? pathToFileURL(join(real, entry)).href : undefined;
    return { version: String(manifest.version), folder: real, url };
  } catch {
    return undefined;
  }
}

/** As Node reads the conditions of an `exports` entry for an `import()`. */
function findEntry(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (typeof target !== 'object' || target === null || Array.isArray(target)) return undefined;
  for (const [condition, value] of Object.entries(target)) {
    if (!['node', 'import', 'module-sync', 'default'].includes(condition)) continue;
    const entry = findEntry(value);
    if (entry !== undefined) return entry;
  }
  return undefined;
}
