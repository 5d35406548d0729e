import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { WfError } from '../shared/errors.js';
import { nearestWord } from '../shared/nearest-word.js';
import { languageOf, type ScriptLanguage } from './load-script.js';
import { readScriptFile } from './read-script-file.js';
import {
  countFiles,
  listWorkflows,
  readFolders,
  type WorkflowFile,
  type WorkflowFolder,
  type WorkflowPlaces,
  workflowFolders,
} from './saved-workflows.js';

export interface FoundWorkflow {
  /** Real path of the file. */
  path: string;
  /** The name of a saved workflow; absent when a file was asked for. */
  name?: string;
  source: string;
  language: ScriptLanguage;
}

/**
 * Finds the script that `wf run <script | name>` means, and reads it. Nothing of it is executed.
 *
 * What looks like a path (a slash in it, or one of the endings `.js`, `.mjs`, `.ts`, `.mts`) or names an existing file is
 * a file, relative to `cwd`. Anything else is a saved workflow: of all folders the closest that has the name as
 * `meta.name`, else the closest that has it as file name.
 *
 * @throws WfError `WF_SCRIPT_NOT_FOUND` with what was looked for and the nearest known name; `WF_SCRIPT_AMBIGUOUS` when
 * one folder has the name twice; `WF_SCRIPT_SIZE`, `WF_SCRIPT_SYNTAX` for a file that cannot be read as text
 *
 * @example
 * findWorkflow('review', { cwd, root, home }).path // '…/.claude/workflows/review.js'
 */
export function findWorkflow(nameOrPath: string, places: WorkflowPlaces): FoundWorkflow {
  const path = resolve(places.cwd, nameOrPath);
  const looksLikePath = nameOrPath.includes('/') || ENDING.test(nameOrPath);
  if (looksLikePath || isFile(path)) return openFile(nameOrPath, path, places, looksLikePath);
  return findSavedWorkflow(nameOrPath, places, () => {
    // A folder is no workflow; what lies in it may be.
    if (isFolder(path)) throw folderGiven(nameOrPath, path);
    return scriptsIn(places.cwd);
  });
}

const ENDING = /\.m?[jt]s$/;

/** Scripts of a folder that may be meant, by name. */
function scriptsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => ENDING.test(name))
      .sort();
  } catch {
    return [];
  }
}

/**
 * The same for a name only: a script that calls another by name reaches the saved workflows and no file beside them.
 *
 * @param listBeside files of which one may be meant; asked for only where there is no such workflow
 * @throws WfError `WF_SCRIPT_NOT_FOUND`, `WF_SCRIPT_AMBIGUOUS`
 */
export function findSavedWorkflow(
  nameOrPath: string,
  places: WorkflowPlaces,
  listBeside: () => readonly string[] = () => [],
): FoundWorkflow {
  const folders = readFolders(places);
  const byName = ({ meta }: WorkflowFile) => typeof meta !== 'string' && meta.name === nameOrPath;
  const byFile = ({ stem }: WorkflowFile) => stem === nameOrPath;
  for (const matches of [byName, byFile]) {
    const found = pick(folders, matches, nameOrPath);
    // A file that could not be read says why when it is read again.
    if (found)
      return { ...(found.file ?? readScriptFile(found.path)), name: nameOf(found), language: languageOf(found.path) };
  }
  throw notFound(nameOrPath, folders, places, listBeside());
}

const nameOf = ({ meta, stem }: WorkflowFile): string => (typeof meta === 'string' ? stem : meta.name);

const isFile = (path: string): boolean => kindOf(path) === 'file';
const isFolder = (path: string): boolean => kindOf(path) === 'folder';

function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : undefined;
  } catch {
    return undefined;
  }
}

function folderGiven(given: string, path: string): WfError {
  return new WfError('WF_SCRIPT_NOT_FOUND', `${given} is a folder, and no saved workflow has that name.`, {
    remedy: nameScripts(given, path) ?? 'Give the path of a script, or the name of a saved workflow.',
  });
}

/** What to give in place of a folder that has scripts in it. */
function nameScripts(given: string, path: string): string | undefined {
  const scripts = scriptsIn(path);
  const named = scripts.slice(0, 3).map((name) => join(given, name));
  if (named.length === 0) return undefined;
  return `Give a script in it: ${named.join(', ')}${scripts.length > named.length ? ', …' : ''}.`;
}

function openFile(given: string, path: string, places: WorkflowPlaces, looksLikePath: boolean): FoundWorkflow {
  try {
    return { ...readScriptFile(path), language: languageOf(path) };
  } catch (error) {
    if (!looksLikePath || !WfError.is(error) || error.code !== 'WF_SCRIPT_NOT_FOUND') throw error;
    const asked = given.replace(/^.*\//, '').replace(/(?:\.workflow)?\.m?[jt]s$/, '');
    const names = listWorkflows(places).workflows.map(({ name }) => name);
    const inside = names.includes(asked) ? undefined : nameScripts(given, path);
    const beside = names.includes(asked) ? undefined : nearestWord(basename(path), scriptsIn(dirname(path)));
    const name = names.includes(asked) ? asked : nearestWord(asked, names);
    if (inside === undefined && beside === undefined && name === undefined) throw error;
    throw new WfError(error.code, error.message, {
      remedy:
        inside ??
        (beside === undefined
          ? `Did you mean the saved workflow \`${name}\`? Give its name without a path.`
          : `Did you mean \`${given.replace(/[^/]*$/, () => beside)}\`?`),
      ...(error.place ? { place: error.place } : {}),
    });
  }
}

/** The match of the closest folder that has one. */
function pick(
  folders: readonly WorkflowFolder[],
  matches: (file: WorkflowFile) => boolean,
  name: string,
): WorkflowFile | undefined {
  for (const folder of folders) {
    const found = folder.files.filter(matches);
    if (countFiles(found) > 1) {
      const list = found.map(({ path }) => `\n  ${path}`).join('');
      throw new WfError(
        'WF_SCRIPT_AMBIGUOUS',
        `${folder.path} has more than one workflow ${JSON.stringify(name)}:${list}`,
        {
          remedy: 'Give one of them another `meta.name`, or run the file by its path.',
        },
      );
    }
    if (found[0]) return found[0];
  }
  return undefined;
}

function notFound(
  name: string,
  folders: readonly WorkflowFolder[],
  places: WorkflowPlaces,
  beside: readonly string[],
): WfError {
  const files = folders.flatMap((folder) => folder.files);
  const known = [...new Set(files.flatMap(({ meta }) => (typeof meta === 'string' ? [] : [meta.name])))];
  const unreadable = files.flatMap(({ path, meta }) => (typeof meta === 'string' ? [`\n  ${path}: ${meta}`] : []));
  const looked = workflowFolders(places).map(({ path }) => `\n  ${path}`);
  const parts = [
    `There is no file and no saved workflow ${JSON.stringify(name)}. Looked for a file at ${resolve(places.cwd, name)}` +
      ` and for a saved workflow in:${[...new Set(looked)].join('')}`,
    known.length > 0 ? `Saved workflows: ${known.sort().join(', ')}.` : 'No saved workflow was found there.',
    ...(unreadable.length > 0 ? [`Not readable as a workflow:${unreadable.join('')}`] : []),
  ];
  const nearest =
    beside.find((file) => file.replace(ENDING, '') === name) ??
    nearestWord(name, [...known, ...files.map(({ stem }) => stem), ...beside]);
  return new WfError('WF_SCRIPT_NOT_FOUND', parts.join('\n'), {
    remedy: nearest ? `Did you mean \`${nearest}\`?` : 'Give the path of a script, or save one in .claude/workflows.',
  });
}
