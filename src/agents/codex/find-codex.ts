/**
 * Finds the program of Codex. What npm puts on the PATH is a script that starts the real program as its child; that child
 * goes on working when the script is killed, so the real one is started here.
 */
import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPackage } from '../find-package.js';
import { findNamedProgram, findProgram, type ProgramPlaces } from '../find-program.js';

export const INSTALL_CODEX =
  'Install Codex (npm install -g @openai/codex), or name its program as backends.codex.executable in .claude/wf.json.';

/** Path of the program, or `undefined`. A program that is named and not there is not replaced by another one. */
export function findCodex(places: ProgramPlaces): string | undefined {
  const { executable, folder, env } = places;
  if (executable !== undefined) {
    const named = findNamedProgram(executable, places);
    return named && behindScript(named);
  }
  const found = findProgram('codex', env.PATH ?? '');
  return found === undefined ? findInProject(folder) : behindScript(found);
}

/** The program that the script of the npm package would start; anything else is the program itself. */
function behindScript(program: string): string {
  const real = realpathSync(program);
  return real.endsWith('.js') ? (findNative(dirname(dirname(real))) ?? program) : program;
}

function findInProject(folder: string): string | undefined {
  const sdk = findPackage('@openai/codex-sdk', [folder]);
  const codex = findPackage('@openai/codex', [folder, ...(sdk ? [sdk.folder] : [])]);
  return codex && findNative(codex.folder);
}

/** @param folder that of the package `@openai/codex` */
function findNative(folder: string): string | undefined {
  const platform = findPackage(`@openai/codex-${process.platform}-${process.arch}`, [folder]);
  for (const place of [platform?.folder, folder]) {
    if (place === undefined) continue;
    for (const triple of listFolder(join(place, 'vendor'))) {
      const found = findProgram(join(place, 'vendor', triple, 'bin', 'codex'), '');
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
