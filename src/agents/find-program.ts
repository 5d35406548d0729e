/** Finds programs without starting any. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Path of a program that can be executed, found along `path` unless it is absolute. */
export function findProgram(program: string, path: string): string | undefined {
  const places = isAbsolute(program) ? [program] : path.split(delimiter).map((folder) => join(folder || '.', program));
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return statSync(place).isFile();
    } catch {
      return false;
    }
  });
}
