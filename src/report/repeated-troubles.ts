/**
 * Calls that were refused, and slots that became null, for one and the same cause: a loop behind a spent budget makes
 * thousands of them, and none tells more than the first did. It is told; the others are counted.
 */
import type { RunEvent } from '../engine/events.js';
import { cleanLine } from './clean-line.js';
import { formatCount } from './format.js';

/** Causes that are looked out for; whoever words each one differently is told each one. */
const MAX_CAUSES = 1_000;

export interface RepeatedTroubles {
  /** Whether the event need not be told: its cause was, and now it is counted. */
  take(event: RunEvent): boolean;
  /** One line for each cause that came again since the last time that this was asked. */
  tellCounts(): string[];
}

interface Cause {
  words: string;
  isSlot: boolean;
  again: number;
}

export function createRepeatedTroubles(): RepeatedTroubles {
  const causes = new Map<string, Cause>();
  /** A ceiling was met: from now on no call waits for its turn, it is refused or answered by a record. */
  let isAtCeiling = false;
  return {
    take(event) {
      if (event.type === 'call.queued') return isAtCeiling;
      const trouble = readTrouble(event);
      if (trouble === undefined) return false;
      isAtCeiling ||= trouble.isCeiling;
      const known = causes.get(trouble.key);
      if (known !== undefined) known.again++;
      else if (causes.size < MAX_CAUSES)
        causes.set(trouble.key, { words: trouble.words, isSlot: trouble.isSlot, again: 0 });
      return known !== undefined;
    },
    tellCounts() {
      const lines: string[] = [];
      for (const cause of causes.values()) {
        if (cause.again > 0) lines.push(describeCount(cause));
        cause.again = 0;
      }
      return lines;
    },
  };
}

function readTrouble(event: RunEvent): { key: string; words: string; isSlot: boolean; isCeiling: boolean } | undefined {
  if (event.type === 'call.finished') {
    const { status, attempts, error } = event;
    // One that was started has an end of its own, with its time and its cost.
    if (status !== 'failed' || attempts > 0 || error === undefined) return undefined;
    const { code, message } = error;
    const isCeiling = code === 'WF_AGENT_CAP' || code === 'WF_BUDGET';
    return { key: `call ${code} ${message}`, words: `${code}: ${message}`, isSlot: false, isCeiling };
  }
  if (event.type !== 'log' || event.error === undefined) return undefined;
  const { code, message, file, line, column } = event.error;
  const place = file === undefined ? '' : ` (${[file, line, column].filter(Boolean).join(':')})`;
  return { key: `slot ${code} ${message}${place}`, words: `${message}${place}`, isSlot: true, isCeiling: false };
}

function describeCount({ words, isSlot, again }: Cause): string {
  const one = again === 1;
  if (isSlot)
    return `${formatCount(again)} more ${one ? 'slot' : 'slots'} failed with the same error: ${cleanLine(words)}`;
  return `${formatCount(again)} more ${one ? 'call was' : 'calls were'} refused for the same reason: ${cleanLine(words)}`;
}
