/** Where each run-wide setting comes from: given, the record of the run that is resumed, environment, config, default. */
import { WfError } from '../shared/errors.js';
import type { Config } from './load-config.js';
import { type Setting, SETTINGS, type SettingOption } from './settings.js';

/** `place`: the flag, the variable, or the file, for people. */
export type SettingSource = {
  from: 'given' | 'record' | 'environment' | 'config' | 'detection' | 'default';
  place?: string;
};

export interface SettingValue {
  /** In the unit of the option; undefined where nobody has set it. */
  value: string | number | null | undefined;
  source: SettingSource;
}

export interface SettingLayers {
  /** What this very command or call of the library says; null takes a limit away. */
  given: Readonly<Partial<Record<SettingOption, unknown>>>;
  /** Options of the run that is resumed: whatever it had, also nothing, wins over environment and config. */
  record: Readonly<Record<string, unknown>> | undefined;
  env: Readonly<Record<string, string | undefined>>;
  config: Config;
}

/** @throws WfError `WF_USAGE` for a flag or a variable, `WF_CONFIG` for a value of the config that cannot be used */
export function resolveSettings(layers: SettingLayers): Record<SettingOption, SettingValue> {
  return Object.fromEntries(SETTINGS.map((setting) => [setting.option, resolveSetting(setting, layers)])) as Record<
    SettingOption,
    SettingValue
  >;
}

function resolveSetting(setting: Setting & { option: SettingOption }, layers: SettingLayers): SettingValue {
  const { key, flag, variable, option } = setting;
  const given = layers.given[option];
  if (given !== undefined) {
    checkRange(setting, flag, given, 'WF_USAGE');
    return { value: given as SettingValue['value'], source: { from: 'given', place: flag } };
  }
  // Empty: nobody had chosen a backend then, and none was found.
  if (layers.record !== undefined && layers.record[option] !== '') {
    return { value: layers.record[option] as SettingValue['value'], source: { from: 'record' } };
  }
  const text = layers.env[variable];
  // An empty variable counts as none: many shells and CI systems cannot take one away.
  if (text !== undefined && text !== '') {
    const value = setting.read(variable, text);
    checkRange(setting, variable, value, 'WF_USAGE');
    return { value, source: { from: 'environment', place: variable } };
  }
  const set = (layers.config.data as Record<string, unknown>)[key];
  if (set === undefined) return { value: undefined, source: { from: 'default' } };
  const file = layers.config.fileOf([key]) ?? 'the config';
  return { value: readConfigValue(setting, `${file}: ${key}`, set), source: { from: 'config', place: file } };
}

function readConfigValue(setting: Setting, where: string, set: unknown): SettingValue['value'] {
  try {
    const value = setting.read(where, String(set));
    checkRange(setting, where, value, 'WF_CONFIG');
    return value;
  } catch (error) {
    if (WfError.is(error)) throw new WfError('WF_CONFIG', error.message);
    throw error;
  }
}

function checkRange({ range }: Setting, where: string, value: unknown, code: 'WF_USAGE' | 'WF_CONFIG'): void {
  if (range === undefined || value === null || value === undefined) return;
  const [min, max] = range;
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw new WfError(code, `${where} must be a whole number from ${min} to ${max}; got ${String(value)}.`);
}
