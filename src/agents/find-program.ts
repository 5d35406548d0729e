/** Finds programs without starting any. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { anchorProgram } from './anchor-paths.js';

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

/** Where the program of an agent may be. */
export interface ProgramPlaces {
  /** `backends.<kind>.executable` of the config. */
  executable: string | undefined;
  /** Start folder of the run, absolute. */
  folder: string;
  env: NodeJS.ProcessEnv;
}

/** The program that the config names, a path from the start folder or a name along the PATH. */
export function findNamedProgram(executable: string, { folder, env }: ProgramPlaces): string | undefined {
  return findProgram(anchorProgram(executable, folder), env.PATH ?? '');
}

/** Why there is none, in a sentence. */
export const wordNoProgram = (kind: string, executable: string | undefined): string =>
  executable === undefined
    ? `There is no ${kind} program: neither on the PATH nor in the node_modules of the project.`
    : `backends.${kind}.executable names ${JSON.stringify(executable)}, and there is no such program.`;
