/** Finds and reads the files of the config. All that a run without one pays is a look at each place. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { messageOf, systemCode, WfError } from '../shared/errors.js';

export interface ConfigPlaces {
  /** Absolute: the config is looked for from here up to `root`. */
  cwd: string;
  /** Project root. */
  root: string;
  home: string;
  env: Readonly<Record<string, string | undefined>>;
}

export interface ConfigFile {
  /** Absolute. */
  path: string;
  /** For people: relative to the project root, or with `~`. */
  shown: string;
  text: string;
}

/**
 * The files that are there, the one that wins first: `.claude/wf.json` from `cwd` up to `root`, then the user's.
 *
 * @throws WfError `WF_CONFIG` for a file that cannot be read
 */
export function readConfigFiles(places: ConfigPlaces): ConfigFile[] {
  return [...listPaths(places)].flatMap((path) => {
    const shown = showPath(path, places);
    try {
      return { path, shown, text: readFileSync(path, 'utf8') };
    } catch (error) {
      const code = systemCode(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return [];
      throw new WfError('WF_CONFIG', `The config ${shown} cannot be read: ${messageOf(error)}.`, {
        remedy: 'Make it a readable file, or remove it.',
        place: { file: shown },
      });
    }
  });
}

function listPaths({ cwd, root, home, env }: ConfigPlaces): Set<string> {
  const paths = new Set<string>();
  const way = relative(root, cwd);
  const isInside = way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  for (let folder = cwd; isInside && folder !== root; folder = dirname(folder)) paths.add(projectFile(folder));
  paths.add(projectFile(root));
  const base = env.XDG_CONFIG_HOME;
  // By its specification a relative one is to be ignored.
  paths.add(join(base !== undefined && isAbsolute(base) ? base : join(home, '.config'), 'wf', 'config.json'));
  return paths;
}

const projectFile = (folder: string): string => join(folder, '.claude', 'wf.json');

function showPath(path: string, { root, home }: ConfigPlaces): string {
  const inRoot = relative(root, path);
  if (!inRoot.startsWith('..') && !isAbsolute(inRoot)) return inRoot.split(sep).join('/');
  const inHome = relative(home, path);
  return inHome.startsWith('..') || isAbsolute(inHome) ? path : `~/${inHome.split(sep).join('/')}`;
}
