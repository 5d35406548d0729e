/** `backends.ai-sdk` of the config. */
import * as z from 'zod';

export const aiSdkSettings = z
  .strictObject({
    provider: z
      .enum(['anthropic', 'openai', 'openai-compatible'])
      .describe(
        'Whose wire format is spoken: anthropic (Messages), openai (Responses), openai-compatible (Chat Completions: Ollama, vLLM, llama.cpp and many others). Default: openai-compatible with a baseURL, else the one whose key is set.',
      )
      .optional(),
    baseURL: z
      .url({ protocol: /^https?$/, error: 'takes an http or https address' })
      .describe('Address of the server, such as http://127.0.0.1:11434/v1. Without a path, /v1 is added.')
      .optional(),
    model: z.string().min(1).describe('Model for calls that name none.').optional(),
    apiKeyEnv: z
      .string()
      .regex(/^[A-Za-z_]\w*$/, 'takes the name of a variable, never its value')
      .describe(
        'Name of the variable that holds the key. Default: ANTHROPIC_API_KEY or OPENAI_API_KEY; none for openai-compatible.',
      )
      .optional(),
    headers: z
      .record(z.string(), z.string())
      .describe('Further headers of each request. ${NAME} in a value is taken from the environment.')
      .optional(),
    maxOutputTokens: z
      .int()
      .positive()
      .describe('Longest answer of the model, tokens. Default: what the provider sets.')
      .optional(),
    maxSteps: z
      .int()
      .positive()
      .describe('Requests that one attempt may make, as each use of tools takes one (default 40).')
      .optional(),
    tools: z
      .enum(['read', 'none'])
      .describe('read (default): the model may list, read and search the files of its folder; none: it gets no tools.')
      .optional(),
    structuredOutput: z
      .enum(['native', 'prompt'])
      .describe(
        'native (default): a schema is handed to the server where it can take it; prompt: it always stands in the prompt, for servers that refuse response_format.',
      )
      .optional(),
  })
  .describe('Models asked directly, by the Vercel AI SDK.');

export type AiSdkSettings = z.infer<typeof aiSdkSettings>;
