import { statSync } from 'node:fs';
import { listNames } from '../../runs/runs-folder.js';

/** Names in a folder; none where there is no such folder, or something else in its place. */
export const namesIn = (folder: string): string[] =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? listNames(folder) : [];
