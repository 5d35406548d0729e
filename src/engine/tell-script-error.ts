/** How an error of a script is told that did not end it. */
import type { ErrorRecord } from '../shared/outcome.js';
import type { UntimedEvent } from './run-voice.js';
import type { UpEvent } from './sandbox/frames.js';

const UNCAUGHT = {
  rejection: { code: 'WF_STRAY_REJECTION', what: 'A promise was rejected and nothing handled it' },
  timer: { code: 'WF_TIMER_THREW', what: 'A callback of setTimeout() threw' },
} as const;

/** @param slot `parallel[0]`, for an error that became null there */
export function tellScriptError(how: (UpEvent & { 0: 'e' })[1], slot: string, error: ErrorRecord): UntimedEvent {
  const { message, file, line, column } = error;
  const told = `${message}${line === undefined ? '' : ` (${file}:${line}:${column})`}`;
  if (how === 'slot') return { type: 'log', level: 'warn', message: `${slot} failed: ${told}`, error };
  const { code, what } = UNCAUGHT[how];
  return { type: 'warning', code, message: `${what}: ${told}`, error };
}
