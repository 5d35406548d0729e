/** The rules of the `mock` backend: their shape, and how they are read from a file. Loaded only when there are rules. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { messageOf, systemCode, WfError } from '../../shared/errors.js';
import type { CallUsage } from '../../shared/outcome.js';
import type { AgentRequest, BackendErrorKind } from '../backend.js';
import { readUsage } from '../usage-words.js';

/** Text or a regular expression (`/…/flags` in a file). As text a prompt must contain it; label and phase must equal it. */
export type TextMatch = string | RegExp;

export interface MockRule {
  when?: {
    prompt?: TextMatch;
    label?: TextMatch;
    phase?: TextMatch;
    /** Which of equal calls, from 0. */
    nth?: number;
    /** Which attempt of the call, from 1. */
    attempt?: number;
  };
  /** It serves one call, with all its attempts; the next equal call gets the next rule that fits. */
  once?: boolean;
  /** The answer: text as is, anything else as JSON. */
  reply?: unknown;
  /** Fails with this kind. */
  error?: BackendErrorKind;
  message?: string;
  retryAfterMs?: number;
  /** ISO 8601 UTC. */
  resetsAt?: string;
  /** Never answers. */
  hang?: boolean;
  delayMs?: number;
  /** In a file also in the short words of the `command` backend: `{ in, out, usd }`. */
  usage?: CallUsage;
}

/** A rule that was checked and is ready to be asked. */
export interface PreparedRule extends Omit<MockRule, 'when'> {
  /** From 0. */
  index: number;
  matches(request: AgentRequest): boolean;
}

const ERROR_KINDS = [
  ...['auth', 'billing', 'usage_limit', 'config', 'backend_missing', 'rate_limit', 'overloaded', 'server', 'network'],
  ...[
    'protocol',
    'empty',
    'timeout',
    'stalled',
    'refused',
    'isolation',
    'schema',
    'invalid_request',
    'failed',
    'too_large',
  ],
] as BackendErrorKind[];

const textMatch = z.union([z.string(), z.instanceof(RegExp)]);
const tokens = z.number().int().nonnegative();
const money = z.number().nonnegative().nullable().optional();
const ruleSchema = z.strictObject({
  when: z
    .strictObject({
      prompt: textMatch.optional(),
      label: textMatch.optional(),
      phase: textMatch.optional(),
      nth: z.number().int().nonnegative().optional(),
      attempt: z.number().int().positive().optional(),
    })
    .optional(),
  once: z.boolean().optional(),
  reply: z.unknown().optional(),
  error: z.enum(ERROR_KINDS as [BackendErrorKind]).optional(),
  message: z.string().optional(),
  retryAfterMs: z.number().nonnegative().optional(),
  resetsAt: z.string().optional(),
  hang: z.boolean().optional(),
  delayMs: z.number().nonnegative().max(2_147_483_647).optional(),
  usage: z
    .union([
      z.strictObject({ inputTokens: tokens, outputTokens: tokens, cacheReadTokens: tokens.optional(), usd: money }),
      z.strictObject({ in: tokens, out: tokens, cacheRead: tokens.optional(), usd: money }).transform(readUsage),
    ])
    .optional(),
});

/** @throws WfError `WF_MOCK_FILE` that names the rule (from 0) and what is wrong with it */
export function prepareRules(rules: unknown, source: string): PreparedRule[] {
  if (!Array.isArray(rules)) throw refuse(source, 'It must hold a list of rules.');
  return rules.map((rule, index) => prepareRule(rule, index, source));
}

function prepareRule(rule: unknown, index: number, source: string): PreparedRule {
  const checked = ruleSchema.safeParse(rule);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0] ?? { path: [], message: 'it is not a rule' };
    const place = path.length > 0 ? ` at ${path.join('.')}` : '';
    throw refuse(source, `Rule ${index}${place}: ${message}.`);
  }
  const { when = {}, ...rest } = checked.data;
  const given = ['reply', 'error', 'hang'].filter((name) => Object.hasOwn(rule as object, name));
  if (given.length !== 1) {
    const what = given.length === 0 ? 'none of them' : given.join(' and ');
    throw refuse(source, `Rule ${index}: it needs exactly one of reply, error and hang, and has ${what}.`);
  }
  try {
    const prompt = prepareMatch(when.prompt, (text, part) => text.includes(part));
    const label = prepareMatch(when.label, (text, part) => text === part);
    const phase = prepareMatch(when.phase, (text, part) => text === part);
    let servedCall: string | undefined;
    const isFree = ({ runId, n }: AgentRequest): boolean => {
      const call = `${runId} ${n}`;
      if (rest.once === true) servedCall ??= call;
      return servedCall === undefined || servedCall === call;
    };
    return {
      ...rest,
      index,
      matches: (request) =>
        (when.nth === undefined || when.nth === request.nth) &&
        (when.attempt === undefined || when.attempt === request.attempt) &&
        label(request.label) &&
        phase(request.phase ?? '') &&
        prompt(request.prompt) &&
        // Last: who fits takes it.
        isFree(request),
    } as PreparedRule;
  } catch (error) {
    throw refuse(source, `Rule ${index}: ${messageOf(error)}.`);
  }
}

/** @throws SyntaxError for an expression that is none */
export function prepareMatch(
  match: TextMatch | undefined,
  fits: (text: string, part: string) => boolean,
): (text: string) => boolean {
  if (match === undefined) return () => true;
  const written = typeof match === 'string' ? /^\/(.+)\/([dgimsuvy]*)$/s.exec(match) : null;
  if (typeof match === 'string' && !written) return (text) => fits(text, match);
  const pattern = written ? new RegExp(written[1] as string, written[2]) : (match as RegExp);
  // With g or y a pattern remembers where it was.
  const stateless = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''));
  return (text) => stateless.test(text);
}

/** @throws WfError `WF_MOCK_FILE` */
export async function readRulesFile(file: string): Promise<PreparedRule[]> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const reason = systemCode(error) === 'ENOENT' ? 'There is no such file.' : messageOf(error);
    throw refuse(file, reason);
  }
  return prepareRules(await parseText(text, file), file);
}

/** JSON is read as JSON, for the better errors; everything else as YAML. */
async function parseText(text: string, file: string): Promise<unknown> {
  try {
    if (/\.json$/i.test(file)) return JSON.parse(text);
    const { parseYaml } = await import('../../shared/parse-yaml.js');
    return parseYaml(text, { prettyErrors: true });
  } catch (error) {
    throw refuse(file, messageOf(error).split('\n')[0] as string);
  }
}

const refuse = (source: string, reason: string): WfError =>
  new WfError('WF_MOCK_FILE', `The mock rules cannot be used (${source}): ${reason}`, {
    remedy:
      'A rule is { when?: { prompt, label, phase, nth, attempt }, once?, reply | error | hang, delayMs?, usage? }.',
    place: { file: source },
  });
