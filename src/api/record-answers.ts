/** Makes a rules file for `mock` from a run: the same script gets the same answers from it, without a token. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { writeFileAtomic } from '../shared/atomic-file.js';
import { messageOf, WfError } from '../shared/errors.js';
import type { CallUsage } from '../shared/outcome.js';
import type { BackendErrorKind } from '../agents/backend.js';
import type { MockRule } from '../agents/mock/mock-rules.js';
import type { CallDetail } from './call-view.js';
import { readCalls } from './read-calls.js';

/** The file of `--record`, absolute. @throws WfError `WF_USAGE`, before anything is spent, where it could not be written */
export function checkRecordFile(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  if (existsSync(path)) {
    throw new WfError('WF_USAGE', `--record ${file}: there is a file of that name, and it is not overwritten.`, {
      remedy: 'Name another file, or remove that one first.',
    });
  }
  try {
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new WfError('WF_USAGE', `--record ${file} cannot be written: ${messageOf(error)}.`, {
      remedy: 'Make its folder first, or name another file.',
    });
  }
  return path;
}

/**
 * Writes the answers of a run as rules, in call order.
 *
 * @param hasEnded the script came to its end: calls that nobody waited for then never answer
 * @returns how many rules there are
 */
export function recordAnswers(folder: string, file: string, hasEnded: boolean): number {
  const rules = readAnswers(folder, hasEnded);
  const lines = rules.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n');
  writeFileAtomic(file, rules.length === 0 ? '[]\n' : `[\n${lines}\n]\n`, { mode: 0o644 });
  return rules.length;
}

/** The same rules, not written anywhere. */
export function readAnswers(folder: string, hasEnded: boolean): MockRule[] {
  const { calls, readDetail } = readCalls(folder, false);
  return calls.flatMap((call) => makeRule(readDetail(call.n) ?? call, hasEnded) ?? []);
}

/** Kinds by which `mock` makes a call fail with these codes; others are refused by the engine itself, on any backend. */
const KINDS: Record<string, BackendErrorKind> = {
  WF_AGENT_FAILED: 'failed',
  WF_SKIPPED: 'failed',
  WF_AGENT_TIMEOUT: 'timeout',
  WF_AGENT_STALLED: 'stalled',
  WF_AGENT_EMPTY: 'empty',
  WF_AGENT_REFUSED: 'refused',
  WF_AGENT_UNREACHABLE: 'network',
  WF_ANSWER_SIZE: 'too_large',
  WF_SCHEMA_UNMET: 'schema',
  WF_WORKTREE: 'isolation',
};

function makeRule(call: CallDetail, hasEnded: boolean): MockRule | undefined {
  const { prompt, label, phase } = call;
  if (call.status === 'no-result') {
    // Its prompt was never written down: events name the label only.
    return hasEnded ? { when: { label: literal(label) }, once: true, hang: true } : undefined;
  }
  if (prompt === undefined) return undefined;
  const when = { prompt: exactly(prompt), label: literal(label), ...(phase === null ? {} : { phase: literal(phase) }) };
  const usage = call.usage === undefined ? {} : { usage: usageOf(call.usage) };
  if (call.status === 'ok') return { when, once: true, reply: replyOf(call), ...usage };
  const kind = KINDS[call.error?.code ?? ''];
  if (kind === undefined) return undefined;
  // The tries that `mock` will make of it, too, are not to be waited for.
  return { when, once: true, error: kind, message: call.error?.message ?? '', retryAfterMs: 0, ...usage };
}

/** With a schema a text is read as JSON, unless the schema wants nothing but a text. */
function replyOf({ output, options }: CallDetail): unknown {
  const schema = options?.schema as { type?: unknown } | undefined;
  return schema !== undefined && schema.type !== 'string' && typeof output === 'string'
    ? JSON.stringify(output)
    : output;
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** As a text a rule fits every prompt that contains it. */
const exactly = (text: string): string => `/^${escapePattern(text)}$/`;

/** Labels are compared as a whole; one that looks like an expression is written as one. */
export const literal = (text: string): string =>
  /^\/.+\/[dgimsuvy]*$/s.test(text) ? `/^${escapePattern(text)}$/` : text;

/** A rule states what was used, not how its cost became known. */
function usageOf({ inputTokens, outputTokens, cacheReadTokens, usd }: CallUsage): CallUsage {
  return {
    inputTokens,
    outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(typeof usd === 'number' ? { usd } : {}),
  };
}
