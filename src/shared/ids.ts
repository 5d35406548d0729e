import { v4, validate, version } from 'uuid';
import { WfError } from './errors.js';

/** A run is named by a lower-case UUID version 4. */
export const newRunId = (): string => v4();

/** True for the folder name of a run. */
export const isRunId = (text: string): boolean => /^[0-9a-f-]{36}$/.test(text) && validate(text);

/**
 * Reads a run id that a person gave: a whole UUID, capitals allowed.
 *
 * @throws WfError `WF_RUN_ID` for anything else, before the text is used in a path.
 */
export function parseRunId(text: string): string {
  const id = text.toLowerCase();
  if (!isRunId(id)) {
    throw new WfError('WF_RUN_ID', `Not a run id: ${JSON.stringify(text.slice(0, 80))}.`, {
      remedy: 'Give the whole UUID of a run; `wf ls` lists them.',
    });
  }
  return id;
}

/** True for an id that a new run may take (`--run-id`). */
export const isNewRunId = (text: string): boolean => isRunId(text) && version(text) === 4;
