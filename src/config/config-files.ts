/** Finds and reads the files of the config. All that a run without one pays is a look at each place. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { wayInside } from '../shared/way-inside.js';

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
  /** Where its relative paths start: the folder that holds `.claude`; of `~/.config/wf/config.json`, the one that it lies in. */
  folder: string;
  /** For people: relative to the project root, or with `~`. */
  shown: string;
  text: string;
}

/**
 * The files that are there, the one that wins first: `.claude/wf.json` from `cwd` up to `root`, then the user's two.
 *
 * @throws WfError `WF_CONFIG` for a file that cannot be read
 */
export function readConfigFiles(places: ConfigPlaces): ConfigFile[] {
  return [...listPaths(places)].flatMap(([path, folder]) => {
    const shown = namePath(path, places);
    try {
      return { path, folder, shown, text: readFileSync(path, 'utf8') };
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

/** Each path with the folder where relative ones in it start. */
function listPaths({ cwd, root, home, env }: ConfigPlaces): Map<string, string> {
  const paths = new Map<string, string>();
  const isInside = wayInside(root, cwd) !== undefined;
  for (let folder = cwd; isInside && folder !== root; folder = dirname(folder)) paths.set(projectFile(folder), folder);
  paths.set(projectFile(root), root);
  // Beside the user's workflows. Of a run in the home folder itself it is that of the project.
  paths.set(projectFile(home), home);
  const base = env.XDG_CONFIG_HOME;
  // By its specification a relative one is to be ignored.
  const own = join(base !== undefined && isAbsolute(base) ? base : join(home, '.config'), 'wf');
  paths.set(join(own, 'config.json'), own);
  return paths;
}

const projectFile = (folder: string): string => join(folder, '.claude', 'wf.json');

function namePath(path: string, { root, home }: ConfigPlaces): string {
  const inHome = wayInside(home, path);
  return wayInside(root, path) ?? (inHome === undefined ? path : `~/${inHome}`);
}
