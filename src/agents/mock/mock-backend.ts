/**
 * Answers from rules, or made up. It executes nothing and costs nothing: for trying a script out and for tests. Without
 * rules a call is answered without a timer and without loading anything.
 */
import type { AgentAnswer, AgentBackend, AgentRequest, AgentRunContext, BackendCapabilities } from '../backend.js';
import { BackendError } from '../backend.js';
import type { MockRule, PreparedRule } from './mock-rules.js';

export interface MockOptions {
  /** First match wins. */
  rules?: readonly MockRule[];
  /** JSON or YAML file with a list of rules; they come after `rules`. */
  file?: string;
  /** Told of each attempt that no rule fits, before its answer is made up. */
  onMadeUp?: (request: AgentRequest) => void;
}

const CAPABILITIES: BackendCapabilities = {
  schema: 'enforced',
  tools: false,
  sessions: false,
  usd: false,
  permissions: ['read', 'edit', 'full'],
  madeUp: true,
};

const FOR_EVER_MS = 2_147_483_647;

/**
 * Makes the `mock` backend.
 *
 * @throws WfError `WF_MOCK_FILE` for rules that cannot be used
 * @example await createMockBackend({ rules: [{ when: { label: 'vote' }, reply: { yes: true } }] })
 */
export async function createMockBackend(options: MockOptions = {}): Promise<AgentBackend> {
  const rules: PreparedRule[] = [];
  if (options.rules || options.file !== undefined) {
    const { prepareRules, readRulesFile } = await import('./mock-rules.js');
    if (options.rules) rules.push(...prepareRules(options.rules, 'rules'));
    if (options.file !== undefined) rules.push(...(await readRulesFile(options.file)));
  }
  return {
    name: 'mock',
    capabilities: CAPABILITIES,
    probe: async () => ({ ok: true, version: 'built in' }),
    async run(request, context) {
      const rule = rules.length === 0 ? undefined : rules.find((candidate) => candidate.matches(request));
      if (rule) return await followRule(rule, request, context);
      options.onMadeUp?.(request);
      return request.schema ? await makeUpAnswer(request, request.schema) : { text: makeUpSentence(request) };
    },
  };
}

const makeUpSentence = ({ label, key }: AgentRequest): string => `Made-up answer to ${label} (${key.slice(0, 8)}).`;

async function makeUpAnswer(request: AgentRequest, schema: object): Promise<AgentAnswer> {
  const { makeUpValue } = await import('./made-up-value.js');
  return { text: await makeUpValue(schema, request.key) };
}

async function followRule(rule: PreparedRule, request: AgentRequest, context: AgentRunContext): Promise<AgentAnswer> {
  if (rule.delayMs) await pause(rule.delayMs, context.signal);
  if (rule.hang) await pause(FOR_EVER_MS, context.signal);
  const { usage } = rule;
  if (usage) context.onEvent({ type: 'usage', usage });
  if (rule.error !== undefined) {
    const { retryAfterMs, resetsAt } = rule;
    throw new BackendError(
      rule.error,
      rule.message ?? `Mock rule ${rule.index} answers with an error (${rule.error}).`,
      {
        retryAfterMs,
        resetsAt,
        usage,
      },
    );
  }
  const answer: AgentAnswer =
    typeof rule.reply === 'string' ? { text: rule.reply } : { text: JSON.stringify(rule.reply) ?? '' };
  // A text is free to hold JSON or not; only where the schema wants a text it is the value itself.
  const isValue =
    typeof rule.reply !== 'string' || (request.schema as { type?: unknown } | undefined)?.type === 'string';
  if (request.schema && isValue) answer.structured = rule.reply;
  if (usage) answer.usage = usage;
  return answer;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new BackendError('cancelled', 'The call was stopped.'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
