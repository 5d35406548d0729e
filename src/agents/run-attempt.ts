/** One attempt: asks the backend once and never waits for it longer than it was told to stop. */
import { Buffer } from 'node:buffer';
import { messageOf } from '../shared/errors.js';
import type { CallUsage } from '../shared/outcome.js';
import {
  type AgentAnswer,
  type AgentBackend,
  type AgentRequest,
  type AgentRunContext,
  BackendError,
} from './backend.js';
import { toBackendError } from './call-failure.js';
import type { CallLimits } from './call-limits.js';
import type { CallContext, CallPolicy } from './call-types.js';
import { handOverError, handOverEvent } from './hand-over.js';
import type { Mask } from './mask-secrets.js';

/** Either `answer` or `error` is there. */
export interface AttemptResult {
  answer?: AgentAnswer;
  error?: BackendError;
  usage: CallUsage | undefined;
  model: string | undefined;
}

/** Grace while the run is being cancelled, ms. */
const CANCEL_GRACE_MS = 3_000;
/** How long after the grace a backend may still take before it is left to itself, ms. */
const PATIENCE_MS = 1_500;

/** Settles with the backend, or some time after the end of the grace when the backend does not obey the signal. */
export function runAttempt(
  backend: AgentBackend,
  request: AgentRequest,
  policy: CallPolicy,
  context: CallContext,
  limits: CallLimits | undefined,
  onCallEnd: AgentRunContext['onCallEnd'],
): Promise<AttemptResult> {
  // One promise for all of it: a mocked call costs little more than this.
  return new Promise((resolve) => {
    const signal = limits?.signal ?? context.signal;
    const { mask } = context;
    let usage: CallUsage | undefined;
    let model: string | undefined;
    let patience: NodeJS.Timeout | undefined;
    let open = true;
    const agentContext: AgentRunContext & { graceMs: number } = {
      signal,
      graceMs: policy.graceMs,
      maxAnswerBytes: policy.maxAnswerBytes,
      onEvent(event) {
        if (!open) return;
        limits?.noteEvent(event);
        if (event.type === 'usage') usage = event.usage;
        const told = handOverEvent(event, mask);
        if (told.type === 'model') model = told.model;
        context.onEvent(told);
      },
      onProcess: (pid) => context.onProcess(pid),
      onProcessEnd: (pid, left) => context.onProcessEnd(pid, left),
      onCallEnd,
    };
    const finish = (result: AgentAnswer | BackendError): void => {
      if (!open) return;
      open = false;
      if (patience) clearTimeout(patience);
      signal.removeEventListener('abort', onAbort);
      if (limits !== undefined) context.signal.removeEventListener('abort', shortenGrace);
      usage = result?.usage ?? usage;
      const taken = result instanceof BackendError ? result : takeAnswer(result, request, policy, usage, mask);
      if (taken instanceof BackendError) resolve({ error: handOverError(taken, mask), usage, model });
      else resolve({ answer: taken, usage, model: taken.model ?? model });
    };
    const fail = (thrown: unknown): void => finish(toBackendError(thrown));
    const shortenGrace = (): void => {
      if (context.signal.aborted) agentContext.graceMs = Math.min(policy.graceMs, CANCEL_GRACE_MS);
    };
    // Heard before whatever the backend listens with: that finds the right grace.
    const onAbort = (): void => {
      shortenGrace();
      const disobeys = new BackendError('cancelled', 'The backend did not stop when it was told to.');
      patience = setTimeout(finish, agentContext.graceMs + PATIENCE_MS, disobeys);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // A cancel after the end of a limit.
    if (limits !== undefined) context.signal.addEventListener('abort', shortenGrace, { once: true });
    try {
      backend.run(request, agentContext).then(finish, fail);
    } catch (thrown) {
      fail(thrown);
    }
  });
}

/** The answer as it may be used: plain JSON, not too large, without secrets. */
function takeAnswer(
  answer: AgentAnswer,
  request: AgentRequest,
  policy: CallPolicy,
  usage: CallUsage | undefined,
  mask: Mask | undefined,
): AgentAnswer | BackendError {
  const text = answer?.text ?? (answer?.structured === undefined ? undefined : '');
  if (typeof text !== 'string') return new BackendError('failed', 'The backend gave no answer with a text.');
  if (isTooLarge(text, policy)) return tooLarge(policy.maxAnswerBytes);
  if (usage?.outputTokens === 0 && !answer.outputUntold && !request.schema && text.trim() === '') {
    return new BackendError('empty', 'The agent ended without an answer and without having said anything.');
  }
  if (!mask && answer.structured === undefined) return answer;
  const taken: AgentAnswer = { ...answer, text: mask ? mask(text) : text };
  if (mask && answer.model !== undefined) taken.model = mask(answer.model);
  if (answer.structured === undefined) return taken;
  try {
    const json = JSON.stringify(answer.structured);
    if (isTooLarge(json, policy)) return tooLarge(policy.maxAnswerBytes);
    taken.structured = JSON.parse(mask ? mask(json) : json);
    return taken;
  } catch (error) {
    return new BackendError('failed', `The backend's structured answer is not JSON: ${messageOf(error)}`);
  }
}

/** A character has at most three bytes: most answers need not be counted. */
const isTooLarge = (text: string, { maxAnswerBytes }: CallPolicy): boolean =>
  text.length * 3 > maxAnswerBytes && Buffer.byteLength(text) > maxAnswerBytes;

export const tooLarge = (limit: number): BackendError =>
  new BackendError('too_large', `The answer is larger than ${limit} bytes.`, {
    remedy: 'Let the agent write large results to a file and answer with its path.',
  });
