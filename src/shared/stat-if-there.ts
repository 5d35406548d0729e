/**
 * What lies at a path, where something does. Node's own `throwIfNoEntry: false` still throws under Node 22 where a folder of
 * the path is a file.
 */
import { lstatSync, type Stats, statSync } from 'node:fs';
import { systemCode } from './errors.js';

/** Links are followed. Throws what else the file system throws. */
export const statIfThere = (path: string): Stats | undefined => ifThere(() => statSync(path));

/** Links are not followed. */
export const lstatIfThere = (path: string): Stats | undefined => ifThere(() => lstatSync(path));

function ifThere(look: () => Stats): Stats | undefined {
  try {
    return look();
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
