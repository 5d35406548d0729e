/** `log()` and `console` both end in the run's log. */
import { config, hostCall } from './host.js';
import { G, keys, lock, textSlice } from './primordials.js';
import { show } from './show.js';

const MAX_LINE = 65_536;

lock(
  G,
  'log',
  function log(message: unknown): void {
    hostCall(0, 'log', config.logPrefix + textSlice(show(message), 0, MAX_LINE), 'log');
  },
  true,
);

const say = (line: string, level: string): void =>
  hostCall(0, 'log', config.logPrefix + textSlice(line, 0, MAX_LINE), level);

/** The arguments as one line, from the given one on. */
function join(given: IArguments, from: number): string {
  let line = '';
  for (let k = from; k < given.length && line.length < MAX_LINE; k++) line += (k === from ? '' : ' ') + show(given[k]);
  return line;
}

const consoleApi = {};
/** Methods by the level at which they tell their arguments. */
const LEVELS = {
  __proto__: null,
  ...{ log: 'log', info: 'info', debug: 'debug', warn: 'warn', error: 'error', trace: 'debug' },
  ...{ dir: 'log', table: 'log', group: 'log', groupCollapsed: 'log' },
} as unknown as Record<string, string>;
const names = keys(LEVELS);
for (let i = 0; i < names.length; i++) {
  const level = LEVELS[names[i] as string] as string;
  lock(
    consoleApi,
    names[i] as string,
    function (): void {
      // biome-ignore lint/complexity/noArguments: a rest parameter would use the script's array iterator
      say(join(arguments, 0), level);
    },
    true,
  );
}
lock(
  consoleApi,
  'assert',
  function (holds: unknown): void {
    // biome-ignore lint/complexity/noArguments: a rest parameter would use the script's array iterator
    if (!holds) say(`Assertion failed${arguments.length > 1 ? `: ${join(arguments, 1)}` : ''}`, 'error');
  },
  true,
);
// There is no clock, and lines are not indented; a script that was written elsewhere must not end for that.
const SILENT = ['groupEnd', 'time', 'timeLog', 'timeEnd'];
for (let i = 0; i < SILENT.length; i++) lock(consoleApi, SILENT[i] as string, (): void => {}, true);
lock(G, 'console', consoleApi);
