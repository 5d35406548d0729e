/**
 * One call from dispatch to outcome: attempts, retries by error kind, schema guard, time limits.
 * Never throws: whatever happens is an outcome.
 */
import { messageOf } from '../shared/errors.js';
import type { CallUsage, ErrorRecord } from '../shared/outcome.js';
import { type AgentBackend, type AgentEvent, type AgentRequest, BackendError } from './backend.js';
import { describeFailure } from './call-failure.js';
import { type CallLimits, createCallLimits } from './call-limits.js';
import type { Mask } from './mask-secrets.js';
import type { RateGate } from './rate-gate.js';
import { reAskAnew, reAskInSession } from './re-ask.js';
import { retryDelay, SCHEMA_TRIES, triesFor } from './retry-policy.js';
import { runAttempt } from './run-attempt.js';
import { explainSchema, judgeAnswer } from './schema-guard.js';
import { sumUsage } from './usage-words.js';

export interface CallPolicy {
  /** Tries after the first for errors that are worth it (default by kind). */
  retries: number | undefined;
  /** Limit of one call with all its attempts, ms. */
  timeoutMs: number | undefined;
  /** Limit without any event, ms. */
  idleTimeoutMs: number | undefined;
  /** Between SIGTERM and SIGKILL, ms. */
  graceMs: number;
  /** Longest answer, bytes of UTF-8. */
  maxAnswerBytes: number;
}

export interface CallContext {
  signal: AbortSignal;
  onEvent(event: AgentEvent): void;
  onAttempt(attempt: number): void;
  /** `attempt`: number of the attempt that will follow. */
  onRetry(kind: string, delayMs: number, attempt: number): void;
  onProcess(pid: number): void;
  onProcessEnd(pid: number): void;
  /** Waits without holding a real clock in tests. Rejects when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Shared by all calls of the backend: holds them while it asks for fewer requests. */
  gate?: RateGate;
  /** Applied to everything that the backend hands over. */
  mask?: Mask;
}

export type CallOutcome =
  /** `output` is the JSON text of the answer: a JSON string without a schema, any JSON value with one. */
  | { kind: 'ok'; output: string; usage: CallUsage | undefined; model?: string; session?: string; attempts: number }
  | {
      kind: 'failed';
      error: ErrorRecord;
      /** How the script learns of it: `null`, or a thrown error of this name. */
      tell: 'null' | 'throw';
      /** The failure concerns all calls: stop dispatching. */
      shared: boolean;
      usage: CallUsage | undefined;
      attempts: number;
      session?: string;
    }
  /** We stopped it: nothing that it printed is an answer. */
  | { kind: 'cancelled'; attempts: number };

export type ExecuteCall = (
  backend: AgentBackend,
  request: Omit<AgentRequest, 'attempt' | 'session'>,
  policy: CallPolicy,
  context: CallContext,
) => Promise<CallOutcome>;

/** Characters of an answer that does not fit. */
const MAX_TOLD = 10_000;

type CallRequest = Parameters<ExecuteCall>[1];

/** What has happened to the call so far. */
interface Progress {
  attempts: number;
  usage: CallUsage | undefined;
  session: string | undefined;
}

/**
 * Executes one call.
 *
 * @example
 * const outcome = await executeCall(backend, request, policy, context)
 * if (outcome.kind === 'ok') JSON.parse(outcome.output)
 */
export const executeCall: ExecuteCall = async (backend, request, policy, context) => {
  const limits = policy.timeoutMs || policy.idleTimeoutMs ? createCallLimits(policy, context.signal) : undefined;
  const progress: Progress = { attempts: 0, usage: undefined, session: undefined };
  try {
    return await tryUntilSettled(backend, request, policy, context, limits, progress);
  } catch (error) {
    return fail(progress, new BackendError('failed', `The call could not be carried out: ${messageOf(error)}`));
  } finally {
    limits?.close();
  }
};

async function tryUntilSettled(
  backend: AgentBackend,
  request: CallRequest,
  policy: CallPolicy,
  context: CallContext,
  limits: CallLimits | undefined,
  progress: Progress,
): Promise<CallOutcome> {
  const { schema } = request;
  const fault = schema && (await explainSchema(schema));
  if (fault) return refuseSchema(fault);

  let { prompt } = request;
  let askedSession: string | undefined;
  let failures = 0;
  let stalls = 0;
  let misfits = 0;
  for (;;) {
    if (context.gate?.isOpen() === false) await context.gate.wait(signalOf(context, limits)).catch(() => {});
    const early = findStop(policy, context, limits, progress);
    if (early) return early;
    progress.attempts++;
    context.onAttempt(progress.attempts);
    limits?.startAttempt();
    const attempt = { ...request, prompt, attempt: progress.attempts, session: askedSession };
    const result = await runAttempt(backend, attempt, policy, context, limits);
    limits?.endAttempt();
    progress.usage = sumUsage(progress.usage, result.usage);
    progress.session = result.answer?.session ?? progress.session;
    const late = findStop(policy, context, limits, progress);
    if (late) return late;

    if (result.answer && !limits?.stalled) {
      const { answer } = result;
      const verdict = schema ? await judgeAnswer(schema, answer) : acceptText(answer.text);
      const stop = findStop(policy, context, limits, progress);
      if (stop) return stop;
      if (verdict.fits) return succeed(progress, verdict.output, result.model);
      misfits++;
      const problems = verdict.errors.join('; ');
      // The text is told in any case: it may be all that is left of dear work.
      const told = `The answer does not fit the schema: ${problems}\n${answer.text.slice(0, MAX_TOLD)}`;
      context.onEvent({ type: 'progress', text: told });
      if (misfits >= SCHEMA_TRIES) {
        return fail(progress, new BackendError('schema', `The answer does not fit the schema: ${problems}.`));
      }
      context.onRetry('schema', 0, progress.attempts + 1);
      askedSession = backend.capabilities.sessions ? progress.session : undefined;
      prompt =
        askedSession === undefined
          ? reAskAnew(request.prompt, answer.text, verdict.errors)
          : reAskInSession(verdict.errors);
      continue;
    }

    const error = limits?.stalled ? stallError() : (result.error as BackendError);
    const count = error.kind === 'stalled' ? ++stalls : ++failures;
    if (count >= triesFor(error.kind, policy.retries)) return fail(progress, error);
    const delay = retryDelay(error.kind, count, error.retryAfterMs);
    context.onRetry(error.kind, delay, progress.attempts + 1);
    if (error.kind === 'rate_limit' && context.gate) context.gate.hold(delay);
    else if (delay > 0) await context.sleep(delay, signalOf(context, limits)).catch(() => {});
  }
}

const signalOf = (context: CallContext, limits: CallLimits | undefined): AbortSignal =>
  limits?.signal ?? context.signal;

const acceptText = (text: string) => ({ fits: true, output: JSON.stringify(text), errors: [] }) as const;

/** The outcome of a call that was told to stop or whose time is over: whatever came back is no answer. */
function findStop(
  policy: CallPolicy,
  context: CallContext,
  limits: CallLimits | undefined,
  progress: Progress,
): CallOutcome | undefined {
  if (context.signal.aborted) return { kind: 'cancelled', attempts: progress.attempts };
  if (!limits?.timedOut) return undefined;
  return fail(progress, new BackendError('timeout', `The call took longer than its limit of ${policy.timeoutMs} ms.`));
}

const stallError = (): BackendError =>
  new BackendError('stalled', 'The agent gave no sign of life for as long as the idle limit allows.');

function succeed(progress: Progress, output: string, model: string | undefined): CallOutcome {
  const { attempts, usage, session } = progress;
  const outcome: CallOutcome = { kind: 'ok', output, usage, attempts };
  if (model !== undefined) outcome.model = model;
  if (session !== undefined) outcome.session = session;
  return outcome;
}

function fail(progress: Progress, error: BackendError): CallOutcome {
  const { attempts, usage, session } = progress;
  const outcome: CallOutcome = { kind: 'failed', ...describeFailure(error), usage, attempts };
  if (session !== undefined) outcome.session = session;
  return outcome;
}

function refuseSchema(fault: string): CallOutcome {
  const message = `The schema cannot be used: ${fault}.`;
  const error = { code: 'WF_SCHEMA_INVALID', name: 'TypeError', message };
  return { kind: 'failed', error, tell: 'throw', shared: false, usage: undefined, attempts: 0 };
}
