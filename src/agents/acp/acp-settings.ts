/** `backends.acp.<name>` of the config. */
import * as z from 'zod';
import { variableNames } from '../variable-names.js';

const modeId = (permission: string) =>
  z.string().min(1).describe(`Id of the agent's session mode for calls with the permission ${permission}.`);

export const acpSettings = z
  .strictObject({
    command: z
      .string({ error: 'takes the program of the agent' })
      .min(1, 'names no program')
      .describe('Program of the agent. One with a slash is found from the folder of the config.'),
    args: z
      .array(z.string(), { error: 'takes a list of texts' })
      .describe('Arguments that make it speak the Agent Client Protocol on stdin and stdout, such as --acp.')
      .optional(),
    env: variableNames(
      'Names of further variables that the agent may see; their values come from the environment.',
    ).optional(),
    model: z.string().min(1).describe('Model for calls for which nothing else names one.').optional(),
    modelConfigId: z
      .string()
      .min(1)
      .describe("Id of the agent's session option that holds the model (default: its option of the category model).")
      .optional(),
    modelArgs: z
      .array(z.string())
      .refine((args) => args.some((arg) => arg.includes('{model}')), 'holds no {model}')
      .describe(
        'Arguments that choose the model at the start, with {model} for its name: for agents without such an option.',
      )
      .optional(),
    modes: z
      .strictObject({
        read: modeId('read').optional(),
        edit: modeId('edit').optional(),
        full: modeId('full').optional(),
      })
      .describe(
        'Session modes by permission. Choose modes in which the agent asks before it acts: wf answers by the permission.',
      )
      .optional(),
    startTimeoutMs: z
      .int()
      .positive()
      .max(3_600_000)
      .describe('How long the agent may take until its session is open, ms (default 60000).')
      .optional(),
  })
  .describe('An agent that speaks the Agent Client Protocol.');

export type AcpSettings = z.infer<typeof acpSettings>;
