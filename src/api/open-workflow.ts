/** Finds and checks the script of a child workflow. What a script learns of a failure holds no paths of this machine. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { OpenWorkflow } from '../engine/engine-options.js';
import { findSavedWorkflow } from '../script/find-workflow.js';
import { languageOf, loadScript } from '../script/load-script.js';
import { readScriptFile } from '../script/read-script-file.js';
import { messageOf, WfError } from '../shared/errors.js';
import type { PreparedRun } from './prepare-run.js';
import { wayInside } from '../shared/way-inside.js';

type Reference = Parameters<OpenWorkflow>[0];

/** @param onChange told when a child on the disk differs from the recorded one */
export function createOpenWorkflow(run: PreparedRun, onChange: (message: string) => void): OpenWorkflow {
  /** Many calls may use one child: it is looked at on the disk once. */
  const looked = new Set<string>();
  return async (reference, recorded) => {
    const id = 'name' in reference ? reference.name : reference.scriptPath;
    const known = recorded.get(id);
    try {
      if (known !== undefined && !run.scriptGiven) {
        const script = await loadScript(known.source, { filename: known.path ?? `${id}.js` });
        const isFirst = !looked.has(id);
        looked.add(id);
        if (isFirst && differsOnDisk(known.source, () => findOnDisk(reference, id, run)))
          onChange(
            `The child workflow ${id} has changed since; the stored one runs. Name the script to run both as they are now.`,
          );
        return { ok: true, script, id, path: known.path };
      }
      const { source, path } = findOnDisk(reference, id, run);
      const shown = nameFrom(run.places.root, path);
      const script = await loadScript(source, { filename: shown, language: languageOf(path) });
      if (known !== undefined && known.source !== source)
        onChange(`The child workflow ${id} differs from the one of the source run.`);
      return { ok: true, script, id, path: shown };
    } catch (error) {
      const code = WfError.is(error) ? error.code : 'WF_WORKFLOW_UNKNOWN';
      return {
        ok: false,
        name: 'WorkflowError',
        code: code === 'WF_SCRIPT_NOT_FOUND' ? 'WF_WORKFLOW_UNKNOWN' : code,
        message: explain(id, 'name' in reference, error),
        ...placeIn(error),
      };
    }
  };
}

function findOnDisk(reference: Reference, id: string, run: PreparedRun): { source: string; path: string } {
  return 'name' in reference ? findSavedWorkflow(id, { ...run.places, cwd: run.startFolder }) : openPath(id, run);
}

function differsOnDisk(stored: string, find: () => { source: string }): boolean {
  try {
    return find().source !== stored;
  } catch {
    return false; // gone: the stored one is what there is
  }
}

function explain(id: string, isName: boolean, error: unknown): string {
  if (!WfError.is(error)) return `workflow(${JSON.stringify(id)}) cannot be read.`;
  if (error.code === 'WF_SCRIPT_NOT_FOUND' && !isName)
    return `workflow({ scriptPath: ${JSON.stringify(id)} }): there is no such file, beside the parent's script or in the start folder.`;
  if (error.code === 'WF_SCRIPT_NOT_FOUND') {
    const known = /Saved workflows: (.*)\./.exec(error.message)?.[1];
    const told = `workflow(${JSON.stringify(id)}): there is no such workflow.${known === undefined ? '' : ` Saved workflows: ${known}.`}`;
    return /[\\/]|\.m?[jt]s$/.test(id)
      ? `${told} A file is called by workflow({ scriptPath: ${JSON.stringify(id)} }).`
      : told;
  }
  if (error.code === 'WF_SCRIPT_AMBIGUOUS')
    return `workflow(${JSON.stringify(id)}): one folder holds more than one workflow of that name.`;
  const { line, column } = placeIn(error);
  const told = `workflow(${JSON.stringify(id)}): ${messageOf(error)}`;
  if (line === undefined) return told;
  return `${told.replace(/\.$/, '')} (line ${line}, column ${column})${error.remedy ? `: ${error.remedy}` : '.'}`;
}

function placeIn(error: unknown): { line?: number; column?: number } {
  const { line, column } = (WfError.is(error) && error.place) || {};
  return line === undefined || column === undefined ? {} : { line, column };
}

/** Against the parent's folder, then the start folder; it must lie inside the project or a workflows folder. */
function openPath(scriptPath: string, run: PreparedRun): { source: string; path: string } {
  const bases = [run.scriptPath === null ? undefined : dirname(run.scriptPath), run.startFolder];
  for (const base of bases) {
    if (base === undefined) continue;
    const path = resolve(base, scriptPath);
    if (!existsSync(path)) continue;
    const real = realpathSync(path);
    const allowed = [run.places.root, join(run.places.home, '.claude', 'workflows')];
    if (!allowed.some((folder) => existsSync(folder) && isInside(realpathSync(folder), real))) {
      throw new WfError(
        'WF_WORKFLOW_UNKNOWN',
        `${basename(scriptPath)} lies outside of the project and of the workflow folders.`,
      );
    }
    return readScriptFile(real);
  }
  throw new WfError('WF_SCRIPT_NOT_FOUND', `There is no file ${scriptPath}.`);
}

const isInside = (folder: string, path: string): boolean => Boolean(wayInside(folder, path));

const nameFrom = (root: string, path: string): string => wayInside(realpathSync(root), path) ?? basename(path);
