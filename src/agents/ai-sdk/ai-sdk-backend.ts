/** Asks a model directly, by the Vercel AI SDK. The model may read files of the call's folder and change nothing. */
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { AgentAnswer, AgentBackend, AgentRequest, AgentRunContext, BackendCapabilities } from '../backend.js';
import { BackendError } from '../backend.js';
import { toBackendError } from '../call-failure.js';
import { askForSchema, hasObjectRoot, isStrictSchema } from '../native-schema.js';
import { SCHEMA_TRIES } from '../retry-policy.js';
import { judgeAnswer } from '../schema-guard.js';
import type { AiSdkSettings } from './ai-sdk-settings.js';
import { classifySdkError } from './classify-error.js';
import { makeFileTools } from './file-tools.js';
import { explainFinish } from './finish-meaning.js';
import { findSdk, type LoadedSdk, loadSdk } from './load-sdk.js';
import { findModelSource, type ModelSource, openModel } from './model-source.js';
import { createStreamReader } from './read-stream.js';
import type { Message, StreamResult } from './sdk-shapes.js';

export interface AiSdkOptions {
  settings?: AiSdkSettings | undefined;
  /** The SDK is looked for from here upwards (default: the present folder). */
  folder?: string | undefined;
  /** Where keys and addresses are taken from (default `process.env`). */
  env?: NodeJS.ProcessEnv | undefined;
}

const CAPABILITIES: BackendCapabilities = {
  schema: 'requested',
  tools: true,
  sessions: true,
  usd: false,
  permissions: ['read', 'edit', 'full'],
};

const MAX_STEPS = 40;

/** What was said in a call whose answer did not fit, so that it can be asked again. */
interface Session {
  messages: Message[];
  asks: number;
}

/**
 * Makes the `ai-sdk` backend. Nothing is loaded before the first call.
 *
 * @example createAiSdkBackend({ settings: { provider: 'openai-compatible', baseURL: 'http://127.0.0.1:11434/v1', model: 'qwen3' } })
 */
export function createAiSdkBackend(options: AiSdkOptions = {}): AgentBackend {
  const settings = options.settings ?? {};
  const env = options.env ?? process.env;
  const folder = resolve(options.folder ?? '.');
  const sessions = new Map<string, Session>();
  let loaded: Promise<LoadedSdk> | undefined;

  return {
    name: 'ai-sdk',
    capabilities: CAPABILITIES,
    async probe() {
      try {
        const source = findModelSource(settings, env);
        const { version } = findSdk(source.provider, folder);
        return { ok: true, version };
      } catch (error) {
        const { message, remedy } = toBackendError(error);
        return { ok: false, reason: message, fix: remedy ?? '' };
      }
    },
    async run(request, context) {
      if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.');
      const source = findModelSource(settings, env);
      const model = nameModel(request, settings);
      loaded ??= loadSdk(findSdk(source.provider, folder));
      return await ask({ sdk: await loaded, source, model, settings, sessions }, request, context);
    },
  };
}

function nameModel(request: AgentRequest, settings: AiSdkSettings): string {
  const model = request.model ?? settings.model;
  if (model !== undefined) return model;
  throw new BackendError('config', 'No model is named for the backend ai-sdk.', {
    remedy: 'Name one: --model <name>, WF_MODEL, or backends.ai-sdk.model in the config.',
  });
}

interface Asker {
  sdk: LoadedSdk;
  source: ModelSource;
  model: string;
  settings: AiSdkSettings;
  sessions: Map<string, Session>;
}

async function ask(asker: Asker, request: AgentRequest, context: AgentRunContext): Promise<AgentAnswer> {
  const { model, settings, sessions } = asker;
  const session = openSession(sessions, request);
  const native = isNative(request.schema, settings);
  const isFirst = session.messages.length === 0;
  const content = request.schema && !native && isFirst ? askForSchema(request.prompt, request.schema) : request.prompt;
  const messages = [...session.messages, { role: 'user', content }];
  const maxSteps = settings.maxSteps ?? MAX_STEPS;
  const reader = createStreamReader(context);
  try {
    context.onEvent({ type: 'model', model });
    const result = startStream(asker, request, context, messages, native, maxSteps);
    const end = await reader.read(result);
    if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.');
    const failure = explainFinish(end, maxSteps, reader.usage);
    if (failure) throw failure;
    const answer: AgentAnswer = { text: end.text, model };
    if (reader.usage) answer.usage = reader.usage;
    const next = { messages: [...messages, ...(await result.responseMessages)], asks: session.asks + 1 };
    const id = await keepSession(sessions, next, request, answer);
    return id === undefined ? answer : { ...answer, session: id };
  } catch (error) {
    if (context.signal.aborted) {
      throw new BackendError('cancelled', 'The call was stopped.', { usage: reader.usage, cause: error });
    }
    throw classifySdkError(error, reader.usage);
  }
}

function startStream(
  { sdk, source, model, settings }: Asker,
  request: AgentRequest,
  context: AgentRunContext,
  messages: readonly Message[],
  native: boolean,
  maxSteps: number,
): StreamResult {
  const { ai } = sdk;
  const { schema, agent, effort } = request;
  const tools = settings.tools === 'none' ? undefined : makeFileTools(ai, request);
  return ai.streamText({
    model: openModel(sdk, source, model),
    messages,
    abortSignal: context.signal,
    // Retries are done around all backends, once.
    maxRetries: 0,
    // Without it the SDK prints errors that are thrown as well.
    onError: () => {},
    stopWhen: ai.stepCountIs(maxSteps),
    ...(agent && agent.prompt.trim() !== '' && { instructions: agent.prompt }),
    ...(effort !== undefined && { reasoning: effort }),
    ...(settings.maxOutputTokens !== undefined && { maxOutputTokens: settings.maxOutputTokens }),
    ...(tools && { tools }),
    ...(schema && native && { output: ai.Output.object({ schema: ai.jsonSchema(schema) }) }),
    providerOptions: makeProviderOptions(schema),
  });
}

/**
 * OpenAI's strict mode refuses a schema that does not keep to its rules; Anthropic's package sees to that by itself.
 * Nothing is kept at OpenAI: later requests would refer to it, which not every server and account can follow.
 */
function makeProviderOptions(schema: object | undefined): object {
  const mode = schema && { strictJsonSchema: isStrictSchema(schema) };
  return { openai: { store: false, ...mode }, ...(mode && { openaiCompatible: mode }) };
}

function isNative(schema: object | undefined, settings: AiSdkSettings): boolean {
  return schema !== undefined && settings.structuredOutput !== 'prompt' && hasObjectRoot(schema);
}

function openSession(sessions: Map<string, Session>, request: AgentRequest): Session {
  if (request.session === undefined) return { messages: [], asks: 0 };
  const session = sessions.get(request.session);
  if (session) return session;
  throw new BackendError('failed', 'The messages of this call are no longer there, so it cannot be asked again.');
}

/** Kept only for an answer that will be asked for once more. */
async function keepSession(
  sessions: Map<string, Session>,
  session: Session,
  request: AgentRequest,
  answer: AgentAnswer,
): Promise<string | undefined> {
  if (!request.schema) return undefined;
  if (request.session !== undefined) sessions.delete(request.session);
  const { fits } = await judgeAnswer(request.schema, answer);
  if (fits || session.asks >= SCHEMA_TRIES) return undefined;
  const id = request.session ?? randomUUID();
  sessions.set(id, session);
  return id;
}
