/** From what a person typed to a run folder. The text is checked before it is used in a path. */
import { messageOf, WfError } from '../shared/errors.js';
import { parseRunId } from '../shared/ids.js';
import { findRunFolder, listRunFolders, type RunFolder } from './runs-folder.js';

/** So many candidates are named when a prefix is not unique. */
const CANDIDATES = 10;

/**
 * The run of a whole UUID, as `--resume-from` takes it. Of two folders that hold it, the first in `runsFolders` counts.
 *
 * @throws WfError `WF_RUN_ID` (no UUID), `WF_RUN_UNKNOWN` (no such run, or a folder that may not be looked into)
 */
export function findRunById(text: string, runsFolders: readonly string[]): RunFolder {
  const runId = parseRunId(text);
  for (const runsFolder of runsFolders) {
    const found = lookFor(runsFolder, runId);
    if (found !== undefined) return found;
  }
  throw unknownRun(`There is no run ${runId}; it was never made here, or it was pruned.`, runsFolders);
}

function lookFor(runsFolder: string, runId: string): RunFolder | undefined {
  try {
    return findRunFolder(runsFolder, runId);
  } catch (error) {
    throw new WfError('WF_RUN_UNKNOWN', `Run ${runId} cannot be looked for in ${runsFolder}: ${messageOf(error)}.`, {
      remedy: 'Make the folder readable for this user, or name another one with --runs-dir.',
      cause: error,
    });
  }
}

/**
 * The run of a UUID or of a prefix that only one run has, as reading verbs take it. Capitals are allowed.
 *
 * @throws WfError `WF_RUN_ID` (no prefix of a UUID, or several runs have it: they are named), `WF_RUN_UNKNOWN`
 *
 * @example
 * const { folder } = findRun('3f2a', [runsFolder, ...alsoRead]);
 */
export function findRun(text: string, runsFolders: readonly string[]): RunFolder {
  const prefix = text.toLowerCase();
  if (prefix.length >= 36) return findRunById(text, runsFolders);
  if (!/^[0-9a-f][0-9a-f-]*$/.test(prefix)) {
    throw new WfError('WF_RUN_ID', `Not a run id or the beginning of one: ${JSON.stringify(text.slice(0, 80))}.`, {
      remedy: '`wf ls` lists the runs.',
    });
  }
  const found = new Map<string, RunFolder>();
  const unread: string[] = [];
  for (const runsFolder of runsFolders) {
    try {
      for (const run of listRunFolders(runsFolder)) {
        if (run.runId.startsWith(prefix) && !found.has(run.runId)) found.set(run.runId, run);
      }
    } catch (error) {
      unread.push(` ${messageOf(error)}.`);
    }
  }
  const [first, ...others] = found.values();
  if (first === undefined)
    throw unknownRun(`No run has an id that begins with ${prefix}.${unread.join('')}`, runsFolders);
  if (others.length === 0) return first;
  const ids = [...found.keys()].sort();
  const more = ids.length > CANDIDATES ? `, and ${ids.length - CANDIDATES} more` : '';
  throw new WfError(
    'WF_RUN_ID',
    `${ids.length} runs begin with ${prefix}: ${ids.slice(0, CANDIDATES).join(', ')}${more}.`,
    {
      remedy: 'Give more of the id.',
    },
  );
}

const unknownRun = (message: string, runsFolders: readonly string[]): WfError =>
  new WfError('WF_RUN_UNKNOWN', message, {
    remedy: `\`wf ls\` lists the runs. Looked in ${runsFolders.join(', ')}.`,
  });
