/** Paths in a config are meant from where the config lies, wherever in the project a run is started. */
import { resolve } from 'node:path';

/** A program that is named without a slash is looked for on the PATH; any other is found from `folder`. */
export const anchorProgram = (program: string, folder: string): string =>
  program.includes('/') ? resolve(folder, program) : program;

/** The settings with the named fields, a program or a list of files each, taken from `folder`. */
export function anchorFields<T extends object>(
  settings: T,
  folder: string,
  { programs = [], files = [] }: { programs?: readonly (keyof T)[]; files?: readonly (keyof T)[] },
): T {
  const anchored = { ...settings };
  for (const field of programs) {
    const program = settings[field];
    if (typeof program === 'string') anchored[field] = anchorProgram(program, folder) as typeof program;
  }
  for (const field of files) {
    const list = settings[field];
    if (Array.isArray(list)) anchored[field] = list.map((file: string) => resolve(folder, file)) as typeof list;
  }
  return anchored;
}
