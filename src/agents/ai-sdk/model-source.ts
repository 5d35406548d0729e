/** Where the model is and how it is reached: settings first, then the environment. */
import { BackendError } from '../backend.js';
import type { AiSdkSettings } from './ai-sdk-settings.js';
import type { LoadedSdk, ProviderName } from './load-sdk.js';
import type { LanguageModel } from './sdk-shapes.js';

export interface ModelSource {
  provider: ProviderName;
  baseURL: string | undefined;
  apiKey: string | undefined;
  /** Name of the variable that the key comes from. */
  apiKeyEnv: string | undefined;
  headers: Record<string, string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PROVIDERS: readonly string[] = ['anthropic', 'openai', 'openai-compatible'] satisfies ProviderName[];
const KEYS: Partial<Record<ProviderName, string>> = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY' };
const ADDRESSES: Partial<Record<ProviderName, string>> = {
  anthropic: 'ANTHROPIC_BASE_URL',
  openai: 'OPENAI_BASE_URL',
};

/** @throws BackendError `config`, `auth` */
export function findModelSource(settings: AiSdkSettings, env: Environment): ModelSource {
  const address = settings.baseURL ?? given(env.WF_AI_SDK_BASE_URL);
  const provider = findProvider(settings, env, address);
  const apiKeyEnv = settings.apiKeyEnv ?? KEYS[provider];
  const apiKey = apiKeyEnv === undefined ? undefined : given(env[apiKeyEnv]);
  if (apiKeyEnv !== undefined && apiKey === undefined) {
    throw new BackendError('auth', `The backend ai-sdk (${provider}) has no key: ${apiKeyEnv} is not set.`, {
      remedy: `Set ${apiKeyEnv}, or name another variable in the config: backends.ai-sdk.apiKeyEnv.`,
    });
  }
  const baseURL = address ?? given(env[ADDRESSES[provider] ?? '']);
  if (provider === 'openai-compatible' && baseURL === undefined) {
    throw new BackendError('config', 'The backend ai-sdk (openai-compatible) has no address.', {
      remedy: 'Set WF_AI_SDK_BASE_URL or backends.ai-sdk.baseURL, such as http://127.0.0.1:11434/v1 for Ollama.',
    });
  }
  return { provider, baseURL: baseURL && withPath(baseURL), apiKey, apiKeyEnv, headers: fillHeaders(settings, env) };
}

function findProvider(settings: AiSdkSettings, env: Environment, address: string | undefined): ProviderName {
  const named = settings.provider ?? given(env.WF_AI_SDK_PROVIDER);
  if (named !== undefined) {
    if (PROVIDERS.includes(named)) return named as ProviderName;
    throw new BackendError('config', `WF_AI_SDK_PROVIDER is ${JSON.stringify(named)}.`, {
      remedy: `Known providers: ${PROVIDERS.join(', ')}.`,
    });
  }
  if (address !== undefined) return 'openai-compatible';
  const withKey = (Object.keys(KEYS) as ProviderName[]).filter(
    (name) => given(env[KEYS[name] as string]) !== undefined,
  );
  if (withKey.length === 1) return withKey[0] as ProviderName;
  const found = withKey.length === 0 ? 'no key is set' : `the keys of ${withKey.join(' and ')} are set`;
  throw new BackendError('config', `The backend ai-sdk was not told which provider to ask, and ${found}.`, {
    remedy: `Set WF_AI_SDK_PROVIDER or backends.ai-sdk.provider to one of ${PROVIDERS.join(', ')}.`,
  });
}

const given = (text: string | undefined): string | undefined => (text?.trim() ? text.trim() : undefined);

/** All three wire formats lie under /v1; other programs' settings leave it out. */
function withPath(address: string): string {
  try {
    return new URL(address).pathname === '/' ? `${address.replace(/\/+$/, '')}/v1` : address;
  } catch {
    throw new BackendError('config', `The address of the ai-sdk backend is none: ${JSON.stringify(address)}.`);
  }
}

function fillHeaders({ headers = {} }: AiSdkSettings, env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value.replace(/\$\{(\w+)\}/g, (_, variable: string) => {
        const text = given(env[variable]);
        if (text !== undefined) return text;
        throw new BackendError(
          'config',
          `The header ${name} of the ai-sdk backend needs ${variable}, which is not set.`,
        );
      }),
    ]),
  );
}

/** What each package exports to make its provider. */
const FACTORIES: Record<ProviderName, string> = {
  anthropic: 'createAnthropic',
  openai: 'createOpenAI',
  'openai-compatible': 'createOpenAICompatible',
};

export function openModel(sdk: LoadedSdk, source: ModelSource, model: string): LanguageModel {
  const { provider, baseURL, apiKey, headers } = source;
  const create = sdk.provider[FACTORIES[provider]] as (options: object) => (model: string) => LanguageModel;
  const options = { ...(baseURL && { baseURL }), ...(apiKey && { apiKey }), headers };
  if (provider !== 'openai-compatible') return create(options)(model);
  return create({ ...options, name: 'openai-compatible', includeUsage: true, supportsStructuredOutputs: true })(model);
}
