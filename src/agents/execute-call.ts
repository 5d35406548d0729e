/**
 * One call from dispatch to outcome: attempts, retries by error kind, schema guard, time limits.
 * Never throws: whatever happens is an outcome.
 */
import { messageOf } from '../shared/errors.js';
import type { CallUsage } from '../shared/outcome.js';
import { type AgentAnswer, type AgentBackend, type AgentEvent, type AgentRequest, BackendError } from './backend.js';
import { describeFailure, refuseSchema } from './call-failure.js';
import { type CallLimits, createCallLimits } from './call-limits.js';
import type { CallContext, CallOutcome, CallPolicy, EarlierAttempts, ExecuteCall } from './call-types.js';
import { reAsk } from './re-ask.js';
import { retryDelay, SCHEMA_TRIES, triesFor } from './retry-policy.js';
import { runAttempt } from './run-attempt.js';
import { explainSchema, judgeMasked } from './schema-guard.js';
import { sumUsage } from './usage-words.js';

export type { CallContext, CallOutcome, CallPolicy, EarlierAttempts, ExecuteCall } from './call-types.js';

/** Characters of an answer that does not fit. */
const MAX_TOLD = 60_000;

/** A call under way: what it was asked, and what has happened to it so far. */
interface Call {
  readonly backend: AgentBackend;
  readonly request: Parameters<ExecuteCall>[1];
  readonly policy: CallPolicy;
  readonly context: CallContext;
  readonly limits: CallLimits | undefined;
  attempts: number;
  /** Of the gate, when the attempt took its place there; undefined: it has none. */
  round: number | undefined;
  usage: CallUsage | undefined;
  /** Of the last answer. */
  outputUntold: true | undefined;
  session: string | undefined;
  /** What the next attempt is asked, and in which session. */
  question: Pick<AgentRequest, 'prompt' | 'anew'>;
  askedSession: string | undefined;
  /** What backends keep open for this call. */
  readonly ends: (() => Promise<void>)[];
  failures: number;
  stalls: number;
  misfits: number;
  /** What was wrong with the last answer that did not fit the schema. */
  misfit: string | undefined;
}

/**
 * Executes one call.
 *
 * @example
 * const outcome = await executeCall(backend, request, policy, context)
 * if (outcome.kind === 'ok') JSON.parse(outcome.output)
 */
export const executeCall: ExecuteCall = async (backend, request, policy, context, earlier) => {
  const call = openCall(backend, request, policy, context, earlier);
  try {
    const fault = request.schema && (await explainSchema(request.schema));
    if (fault) return refuseSchema(fault);
    // Who asks for another attempt now does not mean after the wait that the backend asked all calls for.
    if (earlier !== undefined) {
      const outcome = findStop(call) ?? findHalt(call) ?? (await tryOnce(call));
      if (outcome) return outcome;
    }
    for (;;) {
      const { gate } = context;
      // Nothing is awaited that need not be: a call starts in the tick in which it was dispatched.
      call.round = gate?.enter();
      if (gate && call.round === undefined) call.round = await gate.wait(waitSignalOf(call)).catch(() => undefined);
      const stop = findStop(call) ?? findHalt(call);
      if (stop && call.round !== undefined) gate?.leave(false);
      const outcome = stop ?? (await tryOnce(call));
      if (outcome) return outcome;
    }
  } catch (error) {
    return fail(call, new BackendError('failed', `The call could not be carried out: ${messageOf(error)}`));
  } finally {
    call.limits?.close();
    context.onEnding?.();
    for (const end of call.ends) await end().catch(() => {});
  }
};

function openCall(
  backend: AgentBackend,
  request: Call['request'],
  policy: CallPolicy,
  context: CallContext,
  earlier: EarlierAttempts | undefined,
): Call {
  return {
    backend,
    request,
    policy,
    context,
    limits:
      policy.timeoutMs || policy.idleTimeoutMs
        ? createCallLimits(policy, context.signal, (ms) => context.onEvent(standstillEvent(ms)))
        : undefined,
    attempts: earlier?.attempts ?? 0,
    round: undefined,
    usage: earlier?.usage,
    outputUntold: undefined,
    session: undefined,
    question: request,
    askedSession: undefined,
    ends: [],
    failures: 0,
    stalls: 0,
    misfits: 0,
    misfit: undefined,
  };
}

const standstillEvent = (ms: number): AgentEvent => ({
  type: 'progress',
  text: `wf itself stood still for ${Math.round(ms / 1000)} s (machine asleep, or process stopped); the limits of the call do not count that.`,
});

/** One attempt. `undefined`: the call is to be tried again, now. */
async function tryOnce(call: Call): Promise<CallOutcome | undefined> {
  const { backend, request, policy, context, limits } = call;
  const attempt = ++call.attempts;
  context.onAttempt(attempt);
  limits?.startAttempt();
  const asked: AgentRequest =
    attempt === 1 ? request : { ...request, ...call.question, attempt, session: call.askedSession };
  const onCallEnd = (end: () => Promise<void>): void => void call.ends.push(end);
  const { answer, error, usage, model } = await runAttempt(
    backend,
    asked,
    policy,
    call.usage === undefined ? context : addEarlierUsage(context, call.usage),
    limits,
    onCallEnd,
  );
  limits?.endAttempt();
  if (call.round !== undefined) context.gate?.leave(answer !== undefined);
  call.usage = sumUsage(call.usage, usage);
  call.session = answer?.session ?? call.session;
  const stop = findStop(call);
  if (stop) return stop;
  if (limits?.stalled) return await prepareRetry(call, stallError());
  if (!answer) {
    // An attempt that the end of the run kept from starting is no failure of the call.
    const halt = error?.kind === 'cancelled' ? findHalt(call) : undefined;
    return halt ?? (await prepareRetry(call, error as BackendError));
  }
  if (usage?.outputTokens === 0 && !answer.outputUntold && answer.text.trim() !== '')
    context.onEvent({ type: 'progress', text: 'The backend reports 0 output tokens for an answer that has text.' });
  call.outputUntold = answer.outputUntold;
  if (!request.schema) return succeed(call, JSON.stringify(answer.text), model);
  const verdict = await judgeMasked(request.schema, answer, context.mask);
  return (
    findStop(call) ?? (verdict.fits ? succeed(call, verdict.output, model) : prepareReAsk(call, answer, verdict.errors))
  );
}

/** What an attempt says that it has used is told together with what those before it have cost. */
const addEarlierUsage = (context: CallContext, earlier: CallUsage): CallContext => ({
  ...context,
  onEvent: (event) =>
    context.onEvent(event.type === 'usage' ? { ...event, usage: sumUsage(earlier, event.usage) as CallUsage } : event),
});

/** After an error: waits for the next try, or gives up. */
async function prepareRetry(call: Call, error: BackendError): Promise<CallOutcome | undefined> {
  const { policy, context } = call;
  const count = error.kind === 'stalled' ? ++call.stalls : ++call.failures;
  // Both end when others do less: they wait together.
  const concernsAll = error.kind === 'rate_limit' || error.noRoom;
  if (count >= triesFor(concernsAll ? 'rate_limit' : error.kind, policy.retries)) return fail(call, error);
  const delay = retryDelay(error.kind, count, error.retryAfterMs);
  context.onRetry(error.kind, delay, call.attempts + 1);
  if (concernsAll && context.gate) context.gate.hold(delay, call.round);
  else if (delay > 0) await context.sleep(delay, waitSignalOf(call)).catch(() => {});
  return undefined;
}

/** After an answer that does not fit: prepares the next question, or gives up. */
function prepareReAsk(call: Call, answer: AgentAnswer, errors: readonly string[]): CallOutcome | undefined {
  const { backend, request, context } = call;
  const problem = `The answer does not fit the schema: ${errors.join('; ')}`;
  // The text is told in any case: it may be all that is left of dear work.
  context.onEvent({ type: 'progress', text: `${problem}\n${answer.text.slice(0, MAX_TOLD)}` });
  call.misfit = `${problem}.`;
  if (++call.misfits >= SCHEMA_TRIES) {
    const remedy = 'What it answered in each try stands in events.jsonl of the run folder.';
    return fail(call, new BackendError('schema', call.misfit, { remedy }));
  }
  context.onRetry('schema', 0, call.attempts + 1);
  call.askedSession = backend.capabilities.sessions ? call.session : undefined;
  call.question = reAsk(request, answer.text, errors, call.askedSession !== undefined);
  return undefined;
}

const signalOf = ({ context, limits }: Call): AbortSignal => limits?.signal ?? context.signal;

/** Ends a wait between attempts. */
function waitSignalOf(call: Call): AbortSignal {
  const { noMoreAttempts } = call.context;
  return noMoreAttempts === undefined ? signalOf(call) : AbortSignal.any([signalOf(call), noMoreAttempts]);
}

/** The run starts nothing more: a call between two attempts has no result. */
function findHalt({ context, attempts, usage }: Call): CallOutcome | undefined {
  return context.noMoreAttempts?.aborted ? { kind: 'cancelled', usage, attempts } : undefined;
}

/** The outcome of a call that was told to stop or whose time is over: whatever came back is no answer. */
function findStop(call: Call): CallOutcome | undefined {
  if (call.context.signal.aborted) return { kind: 'cancelled', usage: call.usage, attempts: call.attempts };
  if (!call.limits?.timedOut) return undefined;
  if (call.misfit !== undefined) {
    const spent = `${call.misfit} The limit of ${call.policy.timeoutMs} ms was over in attempt ${call.attempts}.`;
    return fail(call, new BackendError('schema', spent));
  }
  return fail(call, new BackendError('timeout', `The call took longer than its limit of ${call.policy.timeoutMs} ms.`));
}

const stallError = (): BackendError =>
  new BackendError('stalled', 'The agent gave no sign of life for as long as the idle limit allows.');

function succeed(
  { attempts, usage, outputUntold, session, misfits }: Call,
  output: string,
  model: string | undefined,
): CallOutcome {
  const outcome: CallOutcome = { kind: 'ok', output, usage, attempts };
  if (outputUntold) outcome.outputUntold = true;
  if (misfits === SCHEMA_TRIES - 1) outcome.lastTry = true;
  if (model !== undefined) outcome.model = model;
  if (session !== undefined) outcome.session = session;
  return outcome;
}

function fail({ attempts, usage, session }: Call, error: BackendError): CallOutcome {
  const outcome: CallOutcome = { kind: 'failed', ...describeFailure(error), usage, attempts };
  if (session !== undefined) outcome.session = session;
  return outcome;
}
