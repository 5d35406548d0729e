/** What an attempt cost. Claude Code counts money and tokens of a whole session: what it had cost before is taken off. */
import type { CallUsage } from '../../shared/outcome.js';
import type { ClaudeMessage, ModelTotal } from './claude-messages.js';

interface Total {
  input: number;
  output: number;
  cacheRead: number;
  usd: number | undefined;
}

export interface SessionUsage {
  /** @param resumed the attempt went on in a session that was there before */
  take(result: ClaudeMessage, resumed: boolean): CallUsage | undefined;
}

/** Re-asks follow soon; older sessions are not gone on in. */
const MAX_KNOWN = 2_000;

export function createSessionUsage(): SessionUsage {
  const known = new Map<string, Total>();
  return {
    take(result, resumed) {
      const session = result.session_id;
      const total = totalOf(result);
      if (!total) return undefined;
      if (session === undefined) return toUsage(total, undefined);
      const before = known.get(session);
      known.delete(session);
      known.set(session, total);
      if (known.size > MAX_KNOWN) known.delete(known.keys().next().value as string);
      // Without what it had cost before, only the tokens of this turn are known.
      if (resumed && !before) return turnOf(result);
      return toUsage(total, before);
    },
  };
}

function toUsage(total: Total, before: Total | undefined): CallUsage {
  const usage: CallUsage = {
    inputTokens: Math.max(0, total.input - (before?.input ?? 0)),
    outputTokens: Math.max(0, total.output - (before?.output ?? 0)),
  };
  const cacheRead = Math.max(0, total.cacheRead - (before?.cacheRead ?? 0));
  if (cacheRead > 0) usage.cacheReadTokens = cacheRead;
  if (total.usd !== undefined) usage.usd = Math.max(0, total.usd - (before?.usd ?? 0));
  return usage;
}

/** All models of the session, subagents' among them. */
function totalOf({ modelUsage, usage, total_cost_usd }: ClaudeMessage): Total | undefined {
  const models = Object.values(modelUsage ?? {});
  if (models.length === 0) {
    if (!usage) return undefined;
    const { inputTokens, outputTokens, cacheReadTokens } = turnOf({ usage });
    return { input: inputTokens, output: outputTokens, cacheRead: cacheReadTokens ?? 0, usd: total_cost_usd };
  }
  const sum = (read: (model: ModelTotal) => number): number => models.reduce((all, model) => all + read(model), 0);
  return {
    input: sum((m) => (m.inputTokens ?? 0) + (m.cacheReadInputTokens ?? 0) + (m.cacheCreationInputTokens ?? 0)),
    output: sum((m) => m.outputTokens ?? 0),
    cacheRead: sum((m) => m.cacheReadInputTokens ?? 0),
    usd: total_cost_usd,
  };
}

export function turnOf({ usage = {} }: Pick<ClaudeMessage, 'usage'>): CallUsage {
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  const input = (usage.input_tokens ?? 0) + cacheRead + (usage.cache_creation_input_tokens ?? 0);
  return {
    inputTokens: input,
    outputTokens: usage.output_tokens ?? 0,
    ...(cacheRead > 0 && { cacheReadTokens: cacheRead }),
  };
}
