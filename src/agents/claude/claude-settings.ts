/** `backends.claude` of the config. */
import * as z from 'zod';
import { variableNames } from '../variable-names.js';

const texts = (description: string) => z.array(z.string().min(1)).describe(description).optional();

export const claudeSettings = z
  .strictObject({
    executable: z
      .string()
      .min(1)
      .describe(
        'The claude program: a path, from the folder of the config, or a name on the PATH. Default: claude on the PATH, then the one in the node_modules of the project.',
      )
      .optional(),
    model: z.string().min(1).describe('Model or alias for calls that name none.').optional(),
    settingSources: z
      .array(z.enum(['user', 'project', 'local']))
      .describe(
        "Which of Claude Code's own settings apply, CLAUDE.md among them (default: all three). An empty list: none.",
      )
      .optional(),
    mcp: z
      .boolean()
      .describe('Start the MCP servers of the settings for each call too (default false: only those of mcpConfig).')
      .optional(),
    mcpConfig: texts('Files with MCP servers for each call, from the folder of the config.'),
    allowedTools: texts('Permission rules that hold besides, as Claude Code writes them: Bash(npm test:*), mcp__docs.'),
    disallowedTools: texts('Tools and rules that are refused in every call.'),
    addDirs: texts('Folders besides the working folder that the agent may use, from the folder of the config.'),
    maxBudgetUsd: z.number().positive().describe('Most that one attempt may cost, US dollars.').optional(),
    maxRetries: z
      .int()
      .min(0)
      .max(10)
      .describe('Requests that Claude Code itself repeats in place before wf learns of the error (default 2).')
      .optional(),
    scrubEnv: z
      .boolean()
      .describe(
        "Keep keys out of the environment of the agent's own tools (default false). Needs bubblewrap; without it claude does not start.",
      )
      .optional(),
    env: variableNames(
      'Names of further variables that the agent may see; their values come from the environment.',
    ).optional(),
  })
  .describe('Claude Code: the claude program, installed and signed in by the user.');

export type ClaudeSettings = z.infer<typeof claudeSettings>;
