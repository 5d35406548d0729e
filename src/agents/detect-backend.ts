/** Finds a backend where none was chosen: the first that can work here, by its own cheap look. Nothing is asked of a model. */
import { messageOf } from '../shared/errors.js';
import type { AgentBackend } from './backend.js';
import type { BackendOptions } from './backend-kinds.js';
import { type BackendSettings, createBackend, type KnownBackend, listNamedBackends } from './choose-backend.js';

export type BackendLook = { name: string } & (
  | { ok: true; version: string }
  | { ok: false; reason: string; fix: string }
);

export interface Detection {
  found: AgentBackend | undefined;
  /** What was looked at, in order; the last one is the one that was found. */
  looks: BackendLook[];
}

/** Backends that may be taken without having been asked for, in the order in which they are tried. Never `mock`, never `command`. */
export const listDetectable = (config?: BackendSettings): KnownBackend[] =>
  listNamedBackends(config).filter(({ kind }) => kind.detected);

/**
 * @param model the run-wide model, which some backends cannot work without
 * @param signal gives the look up: nothing further is looked at, and what was started for it is ended
 */
export async function detectBackend(
  options: Omit<BackendOptions, 'settings'>,
  config: BackendSettings | undefined,
  model: string | undefined,
  signal?: AbortSignal,
): Promise<Detection> {
  const looks: BackendLook[] = [];
  for (const known of listDetectable(config)) {
    if (signal?.aborted) break;
    const { look, backend } = await lookAtBackend(known, options, config, model, signal);
    looks.push(look);
    if (look.ok) return { found: backend, looks };
    await backend?.close?.();
  }
  return { found: undefined, looks };
}

/** Asks one backend whether it can work here. Never throws. */
export async function lookAtBackend(
  { name, kind, settings }: KnownBackend,
  options: Omit<BackendOptions, 'settings'>,
  config: BackendSettings | undefined,
  model: string | undefined,
  signal?: AbortSignal,
): Promise<{ look: BackendLook; backend: AgentBackend | undefined }> {
  let backend: AgentBackend | undefined;
  try {
    backend = await createBackend(name, options, config);
    const probe = await backend.probe(signal);
    const hasModel = model !== undefined || (settings as { model?: string } | undefined)?.model !== undefined;
    if (probe.ok && kind.needsModel && !hasModel) {
      const fix = 'Name one with --model, WF_MODEL or in the config.';
      return { look: { name, ok: false, reason: 'no model is chosen', fix }, backend };
    }
    return { look: { name, ...probe }, backend };
  } catch (error) {
    const { remedy } = error as { remedy?: string };
    return { look: { name, ok: false, reason: messageOf(error), fix: remedy ?? '' }, backend };
  }
}
