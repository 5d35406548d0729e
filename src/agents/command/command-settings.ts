/** `backends.command.<name>` of the config. */
import * as z from 'zod';
import { variableNames } from '../variable-names.js';

export const commandSettings = z
  .strictObject({
    argv: z
      .array(z.string(), { error: 'takes a list of texts: the program and its arguments' })
      .min(1, 'names no program')
      .describe('Program and arguments. A program with a slash is found from the folder of the config.'),
    env: variableNames(
      'Names of further variables that the program may see; their values come from the environment.',
    ).optional(),
  })
  .describe('A program that answers calls: the prompt on stdin, the answer on stdout.');

export type CommandSettings = z.infer<typeof commandSettings>;
