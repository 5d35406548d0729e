/** `backends.codex` of the config. */
import * as z from 'zod';
import { variableNames } from '../variable-names.js';

export const codexSettings = z
  .strictObject({
    executable: z
      .string()
      .min(1)
      .describe(
        'Program to start: a path, from the folder of the config, or a name on the PATH. Default: codex on the PATH, else that of @openai/codex in the project.',
      )
      .optional(),
    model: z.string().min(1).describe("Model for calls that name none. Default: codex's own setting.").optional(),
    effort: z.string().min(1).describe('Reasoning effort for calls that name none.').optional(),
    config: z
      .record(z.string(), z.json())
      .describe('Settings of codex itself, each handed over as -c <name>=<value>; names may have dots.')
      .optional(),
    apiKeyEnv: z
      .string()
      .regex(/^[A-Za-z_]\w*$/, 'takes the name of a variable, never its value')
      .describe('Variable with the key of a provider of your own (env_key). The agent’s commands do not see it.')
      .optional(),
    env: variableNames('Names of further variables that codex and its commands may see.').optional(),
  })
  .describe('OpenAI Codex, by its own program.');

export type CodexSettings = z.infer<typeof codexSettings>;
