/** Executes calls by Claude Code: the user's own `claude` program, one process a call, spoken to in JSON lines. */
import { resolve } from 'node:path';
import type { CallUsage } from '../../shared/outcome.js';
import {
  type AgentAnswer,
  type AgentBackend,
  type AgentRequest,
  type AgentRunContext,
  type BackendCapabilities,
  BackendError,
} from '../backend.js';
import { wordNoProgram } from '../find-program.js';
import { askForSchema } from '../native-schema.js';
import type { ProgramOptions } from '../program-options.js';
import { STAY_MS } from '../stay-limit.js';
import { claudeEnvironment } from './claude-environment.js';
import { CLAUDE_AGENT_TYPES, claudeArguments, claudeMessages } from './claude-input.js';
import type { ClaudeMessage } from './claude-messages.js';
import type { ClaudeSettings } from './claude-settings.js';
import { classifyFailure, describeSilentEnd, isAuthError } from './classify-failure.js';
import { findClaude, INSTALL_CLAUDE } from './find-claude.js';
import { mayBypass } from './permission-flags.js';
import { probeClaude } from './probe-claude.js';
import type { Turn } from './read-turn.js';
import { type ClaudeEnd, runClaude } from './run-claude.js';
import { createSessionUsage, type SessionUsage } from './session-usage.js';
import { type ToolSchema, toToolSchema } from './tool-schema.js';

export interface ClaudeOptions extends ProgramOptions {
  settings?: ClaudeSettings | undefined;
  /** How long claude may stay after its result, ms (default 5,000). */
  stayMs?: number | undefined;
}

const CAPABILITIES: BackendCapabilities = {
  schema: 'enforced',
  tools: true,
  sessions: true,
  usd: true,
  permissions: ['read', 'edit', 'full'],
  agentTypes: CLAUDE_AGENT_TYPES,
};

/** The backend, and what it is set up with. */
interface Claude {
  settings: ClaudeSettings;
  folder: string;
  env: NodeJS.ProcessEnv;
  allowEnv: readonly string[];
  stayMs: number;
  usage: SessionUsage;
  /** Schemas, as JSON, that its own check does not know. */
  refused: Set<string>;
}

/**
 * Makes the `claude` backend. The program is looked for with each call: it may be installed while a run waits.
 *
 * @example createClaudeBackend({ settings: { model: 'haiku' } })
 */
export function createClaudeBackend(options: ClaudeOptions = {}): AgentBackend {
  const claude: Claude = {
    settings: options.settings ?? {},
    folder: resolve(options.folder ?? '.'),
    env: options.env ?? process.env,
    allowEnv: options.allowEnv ?? [],
    stayMs: options.stayMs ?? STAY_MS,
    usage: createSessionUsage(),
    refused: new Set(),
  };
  return {
    name: 'claude',
    capabilities: CAPABILITIES,
    probe: (signal) => probeClaude(claude, signal),
    run: (request, context) => execute(claude, request, context),
  };
}

async function execute(claude: Claude, asked: AgentRequest, context: AgentRunContext): Promise<AgentAnswer> {
  if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.');
  const text = asked.schema && JSON.stringify(asked.schema);
  const schema = asked.schema && !claude.refused.has(text as string) ? toToolSchema(asked.schema) : undefined;
  let request = asked;
  let end = await ask(claude, request, context, schema);
  if (isSessionGone(request, end)) {
    request = { ...asked, session: undefined, prompt: asked.anew ?? asked.prompt };
    end = await ask(claude, request, context, schema);
  }
  // Its own check does not know every schema; it then leaves the tool away without a word.
  if (schema === undefined || end.turn.hasAnswerTool !== false) return takeAnswer(claude, request, end, schema);
  claude.refused.add(text as string);
  return takeAnswer(claude, request, await ask(claude, request, context, undefined), undefined);
}

/** It was told to go on in a session that its own files no longer hold, and asked no model. */
const isSessionGone = ({ session }: AgentRequest, { turn }: ClaudeEnd): boolean =>
  session !== undefined && !turn.started && turn.result?.subtype === 'error_during_execution';

async function ask(
  { settings, folder, env: source, allowEnv, stayMs }: Claude,
  request: AgentRequest,
  context: AgentRunContext,
  schema: ToolSchema | undefined,
): Promise<ClaudeEnd> {
  const program = findClaude({ executable: settings.executable, folder, env: source });
  if (program === undefined)
    throw new BackendError('backend_missing', wordNoProgram('claude', settings.executable), { remedy: INSTALL_CLAUDE });
  const { session, cwd } = request;
  const env = claudeEnvironment(source, allowEnv, settings, request);
  const parts = { request, settings, folder, bypass: mayBypass(env), session };
  const prompt = request.schema && !schema ? askForSchema(request.prompt, request.schema) : request.prompt;
  return await runClaude(
    {
      argv: [program, ...claudeArguments(parts)],
      cwd,
      env,
      messages: claudeMessages({ request, prompt, schema: schema?.schema }),
      needsAnswerTool: schema !== undefined,
      stayMs,
    },
    context,
  );
}

function takeAnswer(
  claude: Claude,
  request: AgentRequest,
  { turn, exitCode, signal, stopped, stderr }: ClaudeEnd,
  schema: ToolSchema | undefined,
): AgentAnswer {
  const { result } = turn;
  if (turn.refusal !== undefined) throw new BackendError('config', `claude refused its set-up: ${turn.refusal}`);
  if (!result) {
    if (stopped && isAuthError(turn.error)) throw failureOf(turn, { result: 'sign-in was refused' }, turn.usage);
    throw describeSilentEnd({ exitCode, signal }, { started: turn.started, stderr, usage: turn.usage });
  }
  const usage = claude.usage.take(result, request.session !== undefined) ?? turn.usage;
  // An error of the model's server calls itself a success as well.
  if (result.is_error || result.subtype !== 'success') throw failureOf(turn, result, usage);
  if (!turn.asked) {
    throw new BackendError('failed', 'claude answered by itself, without a model: it took the prompt for a command.');
  }
  const answer: AgentAnswer = { text: result.result ?? '' };
  if (schema && result.structured_output !== undefined) answer.structured = schema.unwrap(result.structured_output);
  if (usage) answer.usage = usage;
  if (turn.model !== undefined) answer.model = turn.model;
  if (turn.session !== undefined) answer.session = turn.session;
  return answer;
}

const failureOf = (
  { error, rejectedUntil, retryAfterMs }: Turn,
  result: ClaudeMessage,
  usage: CallUsage | undefined,
): BackendError => classifyFailure({ result, error, rejectedUntil, retryAfterMs, usage });
