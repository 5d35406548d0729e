// Runs on Node 20 as well, before anything is installed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Why the node_modules of a folder are not what its package-lock.json says, or `undefined`. Compares what npm noted there. */
export function reasonToInstall(folder) {
  const installed = readJson(join(folder, 'node_modules', '.package-lock.json'))?.packages;
  if (!installed) return 'the packages are not installed';
  const wanted = readJson(join(folder, 'package-lock.json'))?.packages ?? {};
  for (const [place, entry] of Object.entries(wanted)) {
    if (place === '') continue;
    const found = installed[place];
    // Optional packages for other machines are left out by npm.
    if (found ? found.version !== entry.version || found.integrity !== entry.integrity : !entry.optional) {
      return `${place} is not what package-lock.json says`;
    }
  }
  const extra = Object.keys(installed).find((place) => !wanted[place]);
  return extra && `${extra} is installed, but not in package-lock.json`;
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
