/** Executes calls by OpenAI Codex: the user's own program, one process a call, read by its JSON lines. */
import { resolve } from 'node:path';
import type { AgentAnswer, AgentBackend, AgentRequest, AgentRunContext, BackendCapabilities } from '../backend.js';
import { BackendError } from '../backend.js';
import { writeSchemaFile } from '../schema-file.js';
import { wordNoProgram } from '../find-program.js';
import { askForSchema, isStrictSchema } from '../native-schema.js';
import type { ProgramOptions } from '../program-options.js';
import { classifyMessage } from './classify-message.js';
import { codexArguments, promptWithDefinition } from './codex-arguments.js';
import { STAY_MS } from '../stay-limit.js';
import { codexEnvironment } from './codex-environment.js';
import type { CodexSettings } from './codex-settings.js';
import { findCodex, INSTALL_CODEX } from './find-codex.js';
import { probeCodex } from './probe-codex.js';
import { type CodexEnd, describeSilentEnd, runCodex } from './run-codex.js';
import { createThreadUsage, type ThreadUsage } from './thread-usage.js';

export interface CodexOptions extends ProgramOptions {
  settings?: CodexSettings | undefined;
  /** How long codex may wait for a network that is not there, ms (default 60,000). */
  networkWaitMs?: number | undefined;
  /** How long codex may stay after the end of its turn, ms (default 5,000). */
  stayMs?: number | undefined;
}

const CAPABILITIES: BackendCapabilities = {
  schema: 'requested',
  tools: false,
  sessions: true,
  usd: false,
  permissions: ['read', 'edit', 'full'],
  // Longer than the five minutes after which codex gives up a silent stream by itself, shorter than the ten that it sleeps
  // without a word when a server asks it to.
  idleTimeoutMs: 8 * 60_000,
};

const NETWORK_WAIT_MS = 60_000;

/** The backend, and what it is set up with. */
interface Codex {
  settings: CodexSettings;
  folder: string;
  env: NodeJS.ProcessEnv;
  allowEnv: readonly string[];
  networkWaitMs: number;
  stayMs: number;
  usage: ThreadUsage;
}

/**
 * Makes the `codex` backend. The program is looked for with each call: it may be installed while a run waits.
 *
 * @example createCodexBackend({ settings: { model: 'gpt-5', config: { model_reasoning_summary: 'none' } } })
 */
export function createCodexBackend(options: CodexOptions = {}): AgentBackend {
  const codex: Codex = {
    settings: options.settings ?? {},
    folder: resolve(options.folder ?? '.'),
    env: options.env ?? process.env,
    allowEnv: options.allowEnv ?? [],
    networkWaitMs: options.networkWaitMs ?? NETWORK_WAIT_MS,
    stayMs: options.stayMs ?? STAY_MS,
    usage: createThreadUsage(),
  };
  return {
    name: 'codex',
    capabilities: CAPABILITIES,
    probe: (signal) => probeCodex(codex, signal),
    run: (request, context) => execute(codex, request, context),
  };
}

async function execute(codex: Codex, request: AgentRequest, context: AgentRunContext): Promise<AgentAnswer> {
  if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.');
  const { settings, folder, env: source, allowEnv, networkWaitMs, stayMs } = codex;
  const program = findCodex({ executable: settings.executable, folder, env: source });
  if (program === undefined)
    throw new BackendError('backend_missing', wordNoProgram('codex', settings.executable), { remedy: INSTALL_CODEX });
  // The server refuses a schema that does not keep to the rules of its strict mode.
  const native = request.schema !== undefined && isStrictSchema(request.schema);
  const schemaFile = writeSchemaFile(request);
  try {
    const { env, hidden } = codexEnvironment(source, allowEnv, settings, request, schemaFile?.path);
    const asked = native ? schemaFile?.path : undefined;
    const argv = [program, ...codexArguments({ request, settings, schemaFile: asked, hidden })];
    const prompt = promptWithDefinition(request, makePrompt(request, native));
    const end = await runCodex({ argv, cwd: request.cwd, env, prompt, networkWaitMs, stayMs }, context);
    return takeAnswer(codex, request, context, end);
  } finally {
    schemaFile?.remove();
  }
}

function makePrompt({ prompt, schema, session }: AgentRequest, native: boolean): string {
  return schema && !native && session === undefined ? askForSchema(prompt, schema) : prompt;
}

function takeAnswer(codex: Codex, request: AgentRequest, context: AgentRunContext, end: CodexEnd): AgentAnswer {
  const { turn, stopped } = end;
  const thread = turn.thread ?? request.session;
  const usage = codex.usage.take(thread, turn.total, request.session !== undefined);
  if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.', { ...(usage && { usage }) });
  if (!turn.completed) {
    const said = stopped ?? turn.failure ?? describeSilentEnd(end);
    if (said instanceof BackendError) throw said;
    throw classifyMessage(said, { usage, timeZone: codex.env.TZ || undefined });
  }
  const answer: AgentAnswer = { text: turn.text ?? '' };
  if (usage) answer.usage = usage;
  if (thread !== undefined) answer.session = thread;
  const model = request.model ?? codex.settings.model;
  if (model !== undefined) answer.model = model;
  return answer;
}
