/** Where the `claude` program is. It is never part of this package: the user installs it. */
import { dirname, join } from 'node:path';
import { findNamedProgram, findProgram, type ProgramPlaces } from '../find-program.js';

/** Packages that hold the program itself, by platform. Their own start scripts may not have been run. */
const PACKAGES = ['@anthropic-ai/claude-agent-sdk', '@anthropic-ai/claude-code'];

export const INSTALL_CLAUDE =
  'Install Claude Code (npm install -g @anthropic-ai/claude-code), or name its program as backends.claude.executable in .claude/wf.json.';

/** Path of the program, or `undefined`. A program that is named and not there is not replaced by another one. */
export function findClaude(places: ProgramPlaces): string | undefined {
  const { executable, folder, env } = places;
  if (executable !== undefined) return findNamedProgram(executable, places);
  return findProgram('claude', env.PATH ?? '') ?? findInPackages(folder) ?? findInHome(env.HOME);
}

function findInPackages(start: string): string | undefined {
  const platform = `${process.platform}-${process.arch}`;
  for (let folder = start; ; folder = dirname(folder)) {
    for (const name of PACKAGES) {
      for (const suffix of [platform, `${platform}-musl`]) {
        const found = findProgram(join(folder, 'node_modules', `${name}-${suffix}`, 'claude'), '');
        if (found !== undefined) return found;
      }
    }
    if (folder === dirname(folder)) return undefined;
  }
}

/** Where its own installer puts it, for a shell whose PATH does not say so. */
function findInHome(home: string | undefined): string | undefined {
  return home === undefined ? undefined : findProgram(join(home, '.local', 'bin', 'claude'), '');
}
