/** What an attempt cost. Codex counts the tokens of a whole thread: what it had cost before is taken off. */
import type { CallUsage } from '../../shared/outcome.js';
import type { CodexUsage } from './codex-messages.js';

export interface ThreadUsage {
  /** @param resumed the attempt went on in a thread that was there before */
  take(thread: string | undefined, total: CodexUsage | undefined, resumed: boolean): CallUsage | undefined;
}

/** Re-asks follow soon; older threads are not gone on in. */
const MAX_KNOWN = 2_000;

export function createThreadUsage(): ThreadUsage {
  const known = new Map<string, CodexUsage>();
  return {
    take(thread, total, resumed) {
      if (!total) return undefined;
      const before = thread === undefined ? undefined : known.get(thread);
      if (thread !== undefined) {
        known.delete(thread);
        known.set(thread, total);
        if (known.size > MAX_KNOWN) known.delete(known.keys().next().value as string);
      }
      // What this turn alone has cost is then not known.
      if (resumed && !before) return undefined;
      const take = (name: keyof CodexUsage): number => Math.max(0, (total[name] ?? 0) - (before?.[name] ?? 0));
      return {
        inputTokens: take('input_tokens'),
        outputTokens: take('output_tokens'),
        cacheReadTokens: take('cached_input_tokens'),
      };
    },
  };
}
