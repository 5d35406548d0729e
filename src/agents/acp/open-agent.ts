/** One agent with one session: opened for a call, asked once or, where an answer did not fit, again, and ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentAnswer, type AgentRequest, type AgentRunContext, BackendError } from '../backend.js';
import { tooLarge } from '../run-attempt.js';
import { startOf } from '../whole-words.js';
import type { AcpSettings } from './acp-settings.js';
import { type AgentLink, linkAgent } from './agent-link.js';
import type { AgentProcess } from './agent-process.js';
import { collectTurn, type TurnCollector } from './collect-turn.js';
import { initializeAgent, type OpenedSession, openSession } from './open-session.js';
import { mayUse, pickOption, type ToolRules } from './permission-rules.js';
import { asObject, joinUsage, readTurnModel, readTurnUsage } from './read-usage.js';
import { limitStart } from './start-fault.js';
import { findFaultInAnswer, kindOfReported, readReportedFailure } from './reported-failure.js';

type Json = Readonly<Record<string, unknown>>;

export interface OpenAgent {
  /**
   * @param prompt its pieces, as one text
   * @throws BackendError
   */
  ask(prompt: readonly string[], context: AgentRunContext): Promise<AgentAnswer>;
  /** Tells the agent to stop its turn, waits for that a little, and ends it. */
  stop(graceMs: number): Promise<void>;
  end(graceMs: number): Promise<void>;
}

const START_MS = 60_000;
/** Of the grace, what an agent gets to end its turn by itself, ms at most. */
const CANCEL_MS = 1_500;

/**
 * Opens the session of one call. When it cannot be opened, ending the process is the caller's business.
 *
 * @param name of the agent, for messages
 * @param warn tells what the agent cannot do, for people
 * @throws BackendError
 */
export async function openAgent(
  name: string,
  process: AgentProcess,
  settings: AcpSettings,
  request: AgentRequest,
  warn: (text: string) => void,
): Promise<OpenAgent> {
  let turn: TurnCollector | undefined;
  let session: OpenedSession | undefined;
  let cost = 0;
  let stopping = false;
  let prompting: Promise<unknown> | undefined;
  let tell: AgentRunContext['onEvent'] = () => {};
  const rules: ToolRules = request;

  const answerPermission = (params: Json): string | undefined => {
    if (stopping) return undefined;
    const asked = asObject(params.toolCall) ?? {};
    const tool = turn?.toolOf(asked) ?? { kind: asked.kind, name: asked.name, title: String(asked.title ?? 'a tool') };
    const allowed = mayUse(rules, tool);
    const options = Array.isArray(params.options) ? params.options.flatMap((option) => asOption(option) ?? []) : [];
    if (!allowed) tell({ type: 'progress', text: `not allowed: ${tool.title}` });
    return pickOption(options, allowed, rules);
  };
  const link: AgentLink = await linkAgent(name, process, {
    onUpdate(params) {
      // Sessions of an agent's own helpers are not ours.
      if (session === undefined || params.sessionId === session.id) turn?.take(asObject(params.update) ?? {});
    },
    onPermission: answerPermission,
  });
  const end = async (graceMs: number): Promise<void> => {
    stopping = true;
    await process.end(graceMs);
    link.close();
  };
  const opening = async (): Promise<OpenedSession> => {
    await initializeAgent(name, link);
    return await openSession(name, link, settings, request, warn);
  };
  try {
    session = await limitStart(opening(), name, settings.startTimeoutMs ?? START_MS);
  } catch (error) {
    throw link.noise === undefined || !(error instanceof BackendError) ? error : withNoise(error, link.noise);
  }
  const { id, model } = session;

  return {
    async ask(prompt, context) {
      tell = (event) => context.onEvent(event);
      if (model !== undefined) tell({ type: 'model', model });
      let giveUp: (error: BackendError) => void = () => {};
      const overflow = new Promise<never>((_, reject) => {
        giveUp = reject;
      });
      overflow.catch(() => {});
      const limit = context.maxAnswerBytes;
      const collected = collectTurn(tell, cost, limit, () => giveUp(tooLarge(limit)));
      turn = collected;
      const asking = link.request('session/prompt', {
        sessionId: id,
        prompt: prompt.map((text) => ({ type: 'text', text })),
      });
      prompting = asking.catch(() => {});
      try {
        return readAnswer(name, await Promise.race([asking, overflow]), collected, id, cost);
      } finally {
        collected.end();
        cost = collected.cost ?? cost;
      }
    },
    async stop(graceMs) {
      const start = performance.now();
      stopping = true;
      if (prompting) {
        link.notify('session/cancel', { sessionId: id });
        const patience = Math.min(CANCEL_MS, graceMs / 3);
        await Promise.race([prompting, process.exited, sleep(patience, undefined, { ref: false })]);
      }
      await end(Math.max(0, graceMs - (performance.now() - start)));
    },
    end,
  };
}

function readAnswer(name: string, response: Json, turn: TurnCollector, session: string, before: number): AgentAnswer {
  const usage = joinUsage(readTurnUsage(response), turn.cost, before);
  const fail = (kind: BackendError['kind'], message: string): BackendError =>
    new BackendError(kind, message, usage && { usage });
  const failure = readReportedFailure(response);
  if (failure?.final) throw fail(kindOfReported(failure), `${name} ended its turn with a fault: ${failure.title}`);
  const reason = response.stopReason;
  if (reason === 'refusal') throw fail('refused', `${name} refused to answer${quote(turn.answer)}.`);
  if (reason === 'max_tokens')
    throw fail('failed', `The answer of ${name} was cut off: it had reached its limit of tokens.`);
  if (reason === 'max_turn_requests')
    throw fail('failed', `${name} gave up: it had reached its limit of requests in a turn.`);
  if (reason === 'cancelled')
    throw fail('failed', `${name} says that its turn was cancelled, and wf had not asked for that.`);
  if (reason !== 'end_turn')
    throw fail('protocol', `${name} ended its turn for an unknown reason: ${JSON.stringify(reason)}.`);
  const fault = findFaultInAnswer(turn.answer);
  if (fault) throw fail(fault.kind, fault.message);
  const answer: AgentAnswer = { text: turn.answer, session };
  const model = readTurnModel(response);
  if (usage) answer.usage = usage;
  if (model !== undefined) answer.model = model;
  return answer;
}

const MAX_QUOTED = 500;
const quote = (text: string): string => (text.trim() === '' ? '' : `: ${startOf(text.trim(), MAX_QUOTED)}`);

function asOption(value: unknown): { optionId: string; kind: string } | undefined {
  const option = asObject(value);
  return typeof option?.optionId === 'string' ? { optionId: option.optionId, kind: String(option.kind) } : undefined;
}

function withNoise(error: BackendError, noise: string): BackendError {
  return new BackendError(
    error.kind,
    `${error.message} Its output starts with what is no message of the protocol: ${noise}`,
    {
      remedy: error.remedy,
      retryAfterMs: error.retryAfterMs,
      cause: error,
    },
  );
}
