/** Variables that look like settings and are none: without a word, a misspelt one would just have no effect. */
import { nearestWord } from '../shared/nearest-word.js';
import type { Config } from './load-config.js';
import { SETTINGS } from './settings.js';

const PREFIX = 'WF_';
/** Read by other rooms than this one. */
const OTHERS = ['WF_RUNS_DIR', 'WF_SANDBOX_PERMISSION', 'WF_AI_SDK_PROVIDER', 'WF_AI_SDK_BASE_URL'];
/** What agents are told: a `wf` that one of them starts sees it. */
const HANDED = /^WF_(CALL_\w+|RUN_ID|ATTEMPT|DEPTH)$/;

/**
 * One sentence for each variable whose name is nearly that of a setting. Other names beginning with `WF_` are somebody's
 * own, and so are those that the config names.
 */
export function describeMisspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
  { data }: Config,
): string[] {
  const known = [...SETTINGS.map(({ variable }) => variable), ...OTHERS].map((name) => name.slice(PREFIX.length));
  let named: string | undefined;
  return Object.keys(env).flatMap((name) => {
    const rest = name.slice(PREFIX.length);
    if (!name.startsWith(PREFIX) || HANDED.test(name) || known.includes(rest)) return [];
    const nearest = nearestWord(rest, known);
    named ??= JSON.stringify(data);
    if (nearest === undefined || named.includes(name)) return [];
    return [`The variable ${name} is not one that wf reads, so it has no effect. Did you mean ${PREFIX}${nearest}?`];
  });
}
