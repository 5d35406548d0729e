import { WfError } from '../shared/errors.js';

/** @throws WfError `WF_FOLDER_MISSING`: a process may stand in a folder that was removed */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new WfError('WF_FOLDER_MISSING', 'The folder in which this was started is no longer there.', {
      remedy: 'Go to another folder, or into that one again if it was made anew.',
      cause: error,
    });
  }
}
