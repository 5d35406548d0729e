import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../shared/errors.js';
import { languageOf, type ScriptLanguage } from './load-script.js';
import { peekMeta } from './peek-meta.js';
import { readScriptFile, type ScriptFile } from './read-script-file.js';

/** Folders in which saved workflows are looked for; all absolute. */
export interface WorkflowPlaces {
  cwd: string;
  /** The project root: `.claude/workflows` is looked for from `cwd` up to it. */
  root: string;
  /** The user's home, for `~/.claude/workflows`. */
  home?: string | undefined;
}

export interface SavedWorkflow {
  name: string;
  description: string;
  whenToUse?: string;
  /** Real path. */
  path: string;
  language: ScriptLanguage;
  scope: 'project' | 'user';
  /**
   * `runs`: this file is run for its name. `hidden`: a closer folder has one of the same name. `ambiguous`: its own folder
   * has another of the same name, so neither is run.
   */
  state: 'runs' | 'hidden' | 'ambiguous';
}

/** A file in a workflows folder that could not be listed. */
export interface SkippedFile {
  path: string;
  reason: string;
}

/** A file of a workflows folder, as read; `meta` is why it cannot be listed where that is a text. */
export interface WorkflowFile {
  path: string;
  /** File name without its ending. */
  stem: string;
  file: ScriptFile | undefined;
  meta: ReturnType<typeof peekMeta>;
}

export interface WorkflowFolder {
  path: string;
  scope: 'project' | 'user';
  files: WorkflowFile[];
}

const ENDING = /(?:\.workflow)?\.(?:js|mjs|ts|mts)$/;

/**
 * All saved workflows, closest folder first, then by name. Files whose meta cannot be read are in `skipped`.
 *
 * @example
 * listWorkflows({ cwd, root, home }).workflows.filter((one) => one.state === 'runs').map((one) => one.name)
 */
export function listWorkflows(places: WorkflowPlaces): { workflows: SavedWorkflow[]; skipped: SkippedFile[] } {
  const workflows: SavedWorkflow[] = [];
  const skipped: SkippedFile[] = [];
  for (const folder of readFolders(places)) {
    const taken = new Set(workflows.map(({ name }) => name));
    const listed: SavedWorkflow[] = [];
    for (const { path, file, meta } of folder.files) {
      if (typeof meta === 'string') {
        skipped.push({ path, reason: meta });
        continue;
      }
      const { name, description, whenToUse } = meta;
      const twins = folder.files.filter((other) => typeof other.meta !== 'string' && other.meta.name === name);
      const state = taken.has(name) ? 'hidden' : countFiles(twins) > 1 ? 'ambiguous' : 'runs';
      listed.push({
        name,
        description,
        ...(whenToUse === undefined ? {} : { whenToUse }),
        path: file?.path ?? path,
        language: languageOf(path),
        scope: folder.scope,
        state,
      });
    }
    workflows.push(...listed.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)));
  }
  return { workflows, skipped };
}

/** Different files, links to the same one counted once. */
export const countFiles = (files: readonly WorkflowFile[]): number =>
  new Set(files.map(({ file, path }) => file?.path ?? path)).size;

/** The folders that exist, closest first, each with its files by name. */
export function readFolders(places: WorkflowPlaces): WorkflowFolder[] {
  const seen = new Set<string>();
  return workflowFolders(places).flatMap(({ path, scope }) => {
    let names: string[];
    try {
      // The home folder may be an ancestor too, and folders may be links.
      const real = realpathSync(path);
      if (seen.has(real)) return [];
      seen.add(real);
      names = readdirSync(path).sort();
    } catch {
      return [];
    }
    const files = names.filter((name) => ENDING.test(name)).map((name) => readWorkflowFile(join(path, name), name));
    return [{ path, scope, files }];
  });
}

/** Where saved workflows are looked for, closest first, whether or not it exists. */
export function workflowFolders({ cwd, root, home }: WorkflowPlaces): Omit<WorkflowFolder, 'files'>[] {
  const folders: Omit<WorkflowFolder, 'files'>[] = [];
  const add = (folder: string, scope: WorkflowFolder['scope']) =>
    void folders.push({ path: join(folder, '.claude', 'workflows'), scope });
  const top = resolve(root);
  let folder = resolve(cwd);
  const isInside = folder === top || folder.startsWith(top.endsWith('/') ? top : `${top}/`);
  add(folder, 'project');
  while (isInside && folder !== top) {
    folder = dirname(folder);
    add(folder, 'project');
  }
  if (!isInside) add(top, 'project');
  if (home) add(resolve(home), 'user');
  return folders;
}

function readWorkflowFile(path: string, name: string): WorkflowFile {
  const stem = name.replace(ENDING, '');
  try {
    const file = readScriptFile(path);
    return { path, stem, file, meta: peekMeta(file.source) };
  } catch (error) {
    return { path, stem, file: undefined, meta: lowerFirst(messageOf(error)).replace(/\.$/, '') };
  }
}

const lowerFirst = (text: string): string => text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
