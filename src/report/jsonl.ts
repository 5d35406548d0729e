import type { Reporter } from '../engine/events.js';
import type { WriteText } from './write-text.js';

/** One event a line, as JSON. */
export function createJsonlReporter(options: { write: WriteText }): Reporter {
  return {
    event(event) {
      options.write(`${JSON.stringify(event)}\n`);
    },
  };
}
