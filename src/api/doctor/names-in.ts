import { listNames } from '../../runs/runs-folder.js';
import { statIfThere } from '../../shared/stat-if-there.js';

/** Names in a folder; none where there is no such folder, or something else in its place. */
export const namesIn = (folder: string): string[] => (statIfThere(folder)?.isDirectory() ? listNames(folder) : []);
