/** Loads the AI SDK that the user has installed. */
import { messageOf } from '../../shared/errors.js';
import { BackendError } from '../backend.js';
import { type FoundPackage, findPackage } from '../find-package.js';
import type { AiModule } from './sdk-shapes.js';

export type ProviderName = 'anthropic' | 'openai' | 'openai-compatible';

/** Majors that the tests run against. */
const WANTED = { ai: 7, '@ai-sdk/anthropic': 4, '@ai-sdk/openai': 4, '@ai-sdk/openai-compatible': 3 } as const;

export interface FoundSdk {
  ai: FoundPackage;
  provider: FoundPackage;
  /** For people: `ai 7.0.173, @ai-sdk/openai 4.0.118`. */
  version: string;
}

/** @throws BackendError `backend_missing` with the line that installs what is not there */
export function findSdk(provider: ProviderName, folder: string): FoundSdk {
  const names = ['ai', `@ai-sdk/${provider}`] as const;
  const [ai, found] = names.map((name) => findPackage(name, [folder]));
  const install = `Install it in the project: npm i ${names.map((name) => `${name}@${WANTED[name as keyof typeof WANTED]}`).join(' ')}`;
  if (!ai?.url || !found?.url) {
    const missing = names.filter((_, i) => ![ai, found][i]?.url).join(' and ');
    throw new BackendError(
      'backend_missing',
      `The backend ai-sdk needs ${missing}, looked for from ${folder} upwards.`,
      {
        remedy: install,
      },
    );
  }
  const version = `${names[0]} ${ai.version}, ${names[1]} ${found.version}`;
  if (Number.parseInt(ai.version, 10) < WANTED.ai) {
    throw new BackendError(
      'backend_missing',
      `The backend ai-sdk needs ai ${WANTED.ai} or newer; found is ${version}.`,
      {
        remedy: install,
      },
    );
  }
  return { ai, provider: found, version };
}

export interface LoadedSdk {
  ai: AiModule;
  provider: Record<string, unknown>;
}

export async function loadSdk({ ai, provider, version }: FoundSdk): Promise<LoadedSdk> {
  // Its warnings are told as events; it would print them.
  (globalThis as { AI_SDK_LOG_WARNINGS?: unknown }).AI_SDK_LOG_WARNINGS ??= false;
  try {
    const [aiModule, providerModule] = await Promise.all([import(ai.url as string), import(provider.url as string)]);
    return { ai: aiModule, provider: providerModule };
  } catch (error) {
    throw new BackendError('backend_missing', `The AI SDK (${version}) cannot be loaded: ${messageOf(error)}`, {
      remedy: 'Install it anew.',
      cause: error,
    });
  }
}
