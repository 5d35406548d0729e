/** Settings name variables of the environment; the values, which may be secrets, never stand in a config. */
import * as z from 'zod';

/** A setting that is the name of one variable. */
const variableName = (description: string) =>
  z
    .string({ error: 'takes the name of a variable' })
    .regex(/^[A-Za-z_]\w*$/, 'takes the name of a variable, never its value')
    .describe(description);

/** A setting that is a list of names of variables. */
export const variableNames = (description: string) =>
  z
    .array(variableName('Name of a variable of the environment.'), { error: 'takes a list of names of variables' })
    .describe(description);
