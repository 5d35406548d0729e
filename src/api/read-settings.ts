/** What a run started here would be set to, and where each value comes from. */
import { availableParallelism } from 'node:os';
import { type Config, loadConfig } from '../config/load-config.js';
import type { SettingSource } from '../config/resolve-settings.js';
import { SETTINGS } from '../config/settings.js';
import { findPlaces, type Places } from './prepare-run.js';
import { resolveRunOptions, type RunSettings, type RunWorkflowOptions } from './run-options.js';

/** One run-wide setting. */
export interface SettingReport {
  /** As in the config: `timeout`. */
  key: string;
  /** ms for times, MB for memory; null where there is no limit or nothing is chosen. */
  value: string | number | null;
  source: SettingSource;
}

/**
 * Reads the settings that a new run would have, from environment, config and defaults.
 *
 * @throws WfError `WF_CONFIG`, `WF_USAGE` for one that cannot be used
 * @example
 * for (const { key, value, source } of await readSettings({ cwd: 'packages/a' })) report(key, value, source.place)
 */
export async function readSettings(
  options: Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'> & RunSettings = {},
): Promise<SettingReport[]> {
  const places = findPlaces(options);
  return listSettings(places, await loadConfig(places), options);
}

export function listSettings(places: Places, config: Config, given: RunSettings = {}): SettingReport[] {
  const { options, sources } = resolveRunOptions(given, undefined, places.env, config, availableParallelism());
  return SETTINGS.map(({ key, option }) => {
    const value = options[option] ?? null;
    return { key, value: value === '' ? null : value, source: sources[option] };
  });
}
