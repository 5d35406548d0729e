/** Executes calls by any agent that speaks the Agent Client Protocol: one process and one session for each call. */
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { messageOf, WfError } from '../../shared/errors.js';
import { agentEnvironment, allowedEnvironment } from '../agent-environment.js';
import {
  type AgentAnswer,
  type AgentBackend,
  type AgentRequest,
  type AgentRunContext,
  type BackendCapabilities,
  BackendError,
  type ProbeResult,
} from '../backend.js';
import { anchorProgram } from '../anchor-paths.js';
import { createTreeEnder } from '../end-tree.js';
import { endWithProcess } from '../end-with-process.js';
import type { ProgramOptions } from '../program-options.js';
import { describeStartFailure } from '../start-failure.js';
import type { AcpSettings } from './acp-settings.js';
import { linkAgent } from './agent-link.js';
import { startAgentProcess } from './agent-process.js';
import { wordQuestion } from './ask-words.js';
import { type OpenAgent, openAgent } from './open-agent.js';
import { initializeAgent } from './open-session.js';
import { judgeStart, limitStart } from './start-fault.js';

export interface AcpOptions extends ProgramOptions {
  settings: AcpSettings;
  /** For messages; default: the program's name. */
  name?: string | undefined;
}

const CAPABILITIES: BackendCapabilities = {
  schema: 'requested',
  tools: true,
  sessions: true,
  usd: true,
  permissions: ['read', 'edit', 'full'],
};

const PROBE_MS = 30_000;
/** Where the look is given up: it has nothing to lose. */
const PROBE_GRACE_MS = 500;
/** After an answer: nothing is lost any more by ending the process. */
const END_GRACE_MS = 2_000;

/**
 * Makes the `acp` backend.
 *
 * @throws WfError `WF_BACKEND_CONFIG` when no program is named
 * @example createAcpBackend({ settings: { command: 'gemini', args: ['--acp'] } })
 */
export function createAcpBackend(options: AcpOptions): AgentBackend {
  const { settings } = options;
  if (settings.command === '') {
    throw new WfError('WF_BACKEND_CONFIG', 'The backend acp names no program.', {
      remedy: `Name it: --backend acp --command '<program and arguments>', or set it up as backends.acp.<name> in the config.`,
    });
  }
  const source = options.env ?? process.env;
  const program = anchorProgram(settings.command, options.folder ?? '.');
  const name = options.name ?? basename(settings.command);
  const named = [...(options.allowEnv ?? []), ...(settings.env ?? [])];
  /** Agents that may be asked once more about their answer, by run and call. */
  const waiting = new Map<string, OpenAgent>();
  let everOpened = false;

  /** Asks, and leaves nothing behind but an agent whose answer has yet to be checked. */
  const ask = async (
    agent: OpenAgent,
    pieces: readonly string[],
    request: AgentRequest,
    context: AgentRunContext,
  ): Promise<AgentAnswer> => {
    try {
      const answer = await unlessAborted(context.signal, agent.ask(pieces, context));
      if (request.schema) waiting.set(nameCall(request), agent);
      else await agent.end(END_GRACE_MS);
      return answer;
    } catch (error) {
      await (context.signal.aborted ? agent.stop(context.graceMs) : agent.end(END_GRACE_MS));
      throw context.signal.aborted ? cancelled() : error;
    }
  };

  const open = async (request: AgentRequest, context: AgentRunContext): Promise<OpenAgent> => {
    const argv = argvFor(program, settings, request.model ?? settings.model);
    const started = await startAgentProcess({
      argv,
      cwd: request.cwd,
      env: agentEnvironment(source, named, request),
      onProcess: (pid) => context.onProcess(pid),
      onProcessEnd: (pid, left) => context.onProcessEnd(pid, left),
    });
    if ('startError' in started) throw describeStartFailure(name, started.startError, request.cwd, argv[0]);
    try {
      const warn = (text: string): void => context.onEvent({ type: 'warning', text });
      const agent = await unlessAborted(context.signal, openAgent(name, started, settings, request, warn));
      everOpened = true;
      return agent;
    } catch (error) {
      await started.end(context.signal.aborted ? context.graceMs : END_GRACE_MS);
      throw context.signal.aborted ? cancelled() : judgeStart(error, started, everOpened, argv.join(' '));
    }
  };

  return {
    name: 'acp',
    capabilities: CAPABILITIES,
    probe: (signal) =>
      probe(name, argvFor(program, settings, undefined), options.folder, allowedEnvironment(source, named), signal),
    async run(request, context) {
      if (context.signal.aborted) throw cancelled();
      const call = nameCall(request);
      const before = waiting.get(call);
      waiting.delete(call);
      if (before && request.session !== undefined) return await ask(before, [request.prompt], request, context);
      await before?.end(END_GRACE_MS);
      const agent = await open(request, context);
      // Whatever becomes of the attempts, the agent does not outlive the call.
      if (request.schema) context.onCallEnd(() => agent.end(END_GRACE_MS));
      return await ask(agent, wordQuestion(request), request, context);
    },
  };
}

/** Starts the agent for its handshake alone: no session, no model. */
async function probe(
  name: string,
  argv: readonly string[],
  folder: string | undefined,
  env: Record<string, string>,
  signal = new AbortController().signal,
): Promise<ProbeResult> {
  const cwd = folder ?? tmpdir();
  const fix = `Install it, or correct its command: ${argv.join(' ')}`;
  if (signal.aborted) return { ok: false, reason: cancelled().message, fix };
  let letGo = (): void => {};
  const onProcess = (pid: number): void => {
    letGo = endWithProcess(createTreeEnder(pid));
  };
  const started = await startAgentProcess({ argv, cwd, env, onProcess, onProcessEnd: () => letGo() });
  if ('startError' in started) {
    return { ok: false, reason: describeStartFailure(name, started.startError, cwd).message, fix };
  }
  try {
    const link = await linkAgent(name, started, { onUpdate: () => {}, onPermission: () => undefined });
    const version = await unlessAborted(signal, limitStart(initializeAgent(name, link), name, PROBE_MS));
    return { ok: true, version };
  } catch (error) {
    return { ok: false, reason: messageOf(error), fix };
  } finally {
    await started.end(signal.aborted ? PROBE_GRACE_MS : END_GRACE_MS);
  }
}

/** Rejects as soon as the signal aborts; what the promise stands for goes on, and ending it is the caller's business. */
async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  let stop: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(cancelled());
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function argvFor(program: string, { args = [], modelArgs = [] }: AcpSettings, model: string | undefined): string[] {
  const chosen = model === undefined ? [] : modelArgs.map((arg) => arg.replaceAll('{model}', () => model));
  return [program, ...args, ...chosen];
}

const nameCall = ({ runId, n }: AgentRequest): string => `${runId} ${n}`;

const cancelled = (): BackendError => new BackendError('cancelled', 'The call was stopped.');
