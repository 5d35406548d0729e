/** `log()` and `console` both end in the run's log. */
import { config, hostCall } from './host.js';
import { G, lock, PError, PString, stringify, textSlice } from './primordials.js';

function show(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    if (value instanceof PError) return PString((value as Error).stack);
    return stringify(value) ?? PString(value);
  } catch {
    return '(a value that cannot be shown)';
  }
}

const MAX_LINE = 65_536;

lock(
  G,
  'log',
  function log(message: unknown): void {
    hostCall(0, 'log', config.logPrefix + textSlice(show(message), 0, MAX_LINE), 'log');
  },
  true,
);

const levels = ['log', 'info', 'debug', 'warn', 'error', 'trace'];
const consoleApi = {};
for (let i = 0; i < levels.length; i++) {
  const level = levels[i] as string;
  lock(
    consoleApi,
    level,
    function (): void {
      // biome-ignore lint/complexity/noArguments: a rest parameter would use the script's array iterator
      const given = arguments;
      let line = '';
      for (let k = 0; k < given.length && line.length < MAX_LINE; k++) line += (k === 0 ? '' : ' ') + show(given[k]);
      hostCall(0, 'log', config.logPrefix + textSlice(line, 0, MAX_LINE), level === 'trace' ? 'debug' : level);
    },
    true,
  );
}
lock(G, 'console', consoleApi);
