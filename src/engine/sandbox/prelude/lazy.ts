/** Globals that cost time to set up: they are there only where the script names them. */
import { config } from './host.js';
import { G, lock } from './primordials.js';

const supplied = G.__lazy as Record<string, unknown> | undefined;
delete G.__lazy;
// The store of the library that makes some of them.
delete G['__core-js_shared__'];
if (supplied !== undefined) {
  for (let i = 0; i < config.lazy.length; i++) {
    const name = config.lazy[i] as string;
    if (supplied[name] !== undefined) lock(G, name, supplied[name]);
  }
}
