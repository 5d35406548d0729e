/** What a config may hold. The published JSON schema is made from this; the table of docs/config.md is checked against it. */
import * as z from 'zod';
import { BACKEND_KINDS } from '../agents/backend-kinds.js';
import { variableNames } from '../agents/variable-names.js';
import { EFFORTS, PERMISSIONS } from '../shared/agent-options.js';
import type { SettingKey } from './settings.js';

const count = (min: number, max: number) => {
  const error = `takes a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, error).max(max, error);
};
const quantity = (pattern: RegExp, what: string) => {
  const error = `takes ${what}`;
  return z.union([z.number({ error }).min(0, error), z.string({ error }).regex(pattern, error)], { error });
};
const seconds = 'a time such as "90s", "10m" or "2h", or a number of seconds';
const limit = quantity(/^(\d+(\.\d+)?(ms|s|m|h)?|none)$/, `${seconds}, or "none"`);
const choice = <const T extends readonly string[]>(words: T) =>
  z.enum(words, { error: `takes one of ${words.join(', ')}` });
const word = (what: string) => z.string({ error: `takes ${what}` }).min(1, `takes ${what}`);

const settings = {
  backend: word('the name of a backend').describe('What executes the calls.'),
  model: word('the name of a model').describe('Model, or alias of `models`, for calls that name none.'),
  effort: choice(EFFORTS).describe('Effort for calls that name none.'),
  permission: choice(PERMISSIONS).describe('What agents may do (default edit).'),
  concurrency: count(1, 100_000).describe('Calls at once (default: 2 per core, 4 to 16).'),
  maxAgents: count(0, 10_000_000).describe('Calls that a run may execute (default 1000).'),
  budget: quantity(
    /^(\d+(\.\d+)?[kKmM]?|none)$/,
    'a number of tokens such as 500000, "500k" or "1m", or "none"',
  ).describe('Output tokens that a run may spend (default: no ceiling).'),
  budgetUsd: quantity(/^(\$?\d{1,9}(\.\d+)?|none)$/, 'US dollars such as 5 or 2.50, or "none"').describe(
    'US dollars that a run may spend (default: no ceiling).',
  ),
  minFreeMem: quantity(/^(\d{1,6}([mM][bB]|[gG][bB])?|none)$/, 'megabytes such as 256 or "1GB", or "none"').describe(
    'Memory that must be free for a further call to start while others run (default: no floor).',
  ),
  timeout: limit.describe('Limit of one call with all its attempts (default none).'),
  idleTimeout: limit.describe('Limit of a call without any sign of life (default none).'),
  retries: count(0, 1000).describe('Tries after the first, for failures that another try may mend.'),
  turnTimeout: quantity(/^\d+(\.\d+)?(ms|s|m|h)?$/, seconds).describe(
    'Limit of script code without an await (default 30s).',
  ),
  memory: quantity(/^\d{1,6}([mM][bB]|[gG][bB])?$/, 'megabytes such as 256 or "1GB"').describe(
    'Memory of the script (default 256).',
  ),
} satisfies Record<SettingKey, z.ZodType>;

const name = z.string().regex(/^[A-Za-z0-9][\w.-]*$/, 'may hold letters, digits, dots, dashes and underscores');
const PRICES = 'takes { "<model>": { "in": …, "out": … } }';
const dollars = (description: string) => {
  const error = 'takes US dollars for a million tokens';
  return z.number({ error }).min(0, error).describe(description);
};
const MODELS = 'takes { "<alias>": { "<backend>": "<model>" } }';

/** Loads the settings of every kind of backend. */
export async function makeConfigSchema() {
  const backends: Record<string, z.ZodType> = {};
  for (const [kindName, kind] of Object.entries(BACKEND_KINDS)) {
    const set = await kind.settings?.();
    if (set === undefined) continue;
    const all = z
      .record(name, set, { error: 'takes { "<name>": { … } }' })
      .describe(`Backends of the kind ${kindName}, each chosen by its own name.`);
    backends[kindName] = (kind.many ? all : set).optional();
  }
  return z
    .strictObject(
      {
        $schema: z.string().describe('Place of the JSON schema of this file, for editors. Not read.'),
        ...settings,
        secrets: variableNames('Names of variables whose values are masked in everything that a backend hands over.'),
        models: z
          .record(name, z.record(name, word('the name of a model'), { error: MODELS }), { error: MODELS })
          .describe('Aliases of models: { "<alias>": { "<backend>": "<model>" } }.'),
        prices: z
          .record(
            z.string(),
            z.strictObject(
              {
                in: dollars('US dollars for a million tokens read.'),
                out: dollars('US dollars for a million tokens written.'),
                cacheRead: dollars('The same for tokens read from a cache (default: as `in`).').optional(),
              },
              { error: PRICES },
            ),
            { error: PRICES },
          )
          .describe('What models cost whose backend reports no money: { "<model>": { in, out, cacheRead? } }.'),
        backends: z
          .strictObject(backends, { error: 'takes { "<kind>": { … } }' })
          .describe('Settings of the backends, by kind.'),
      },
      { error: 'takes one object' },
    )
    .partial()
    .describe(
      'Config of wf: .claude/wf.json of a project, or ~/.claude/wf.json or ~/.config/wf/config.json of a user.',
    );
}

export type ConfigSchema = Awaited<ReturnType<typeof makeConfigSchema>>;
