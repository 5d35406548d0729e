/** Puts the files of a config together: value by value the closest one that has it. */
import { BACKEND_KINDS } from '../agents/backend-kinds.js';
import type { ConfigData } from './check-config.js';

export interface Config {
  readonly data: ConfigData;
  /** The files that it was read from, the one that wins first. */
  readonly files: readonly string[];
  /** The file that a value came from; `path` as the keys that lead to it. */
  fileOf(path: readonly string[]): string | undefined;
}

interface Layer {
  file: string;
  data: ConfigData;
}

type Dictionary = Record<string, unknown>;

/** @param layers the one that wins first */
export function mergeConfigs(layers: readonly Layer[]): Config {
  const origins = new Map<string, string>();
  const merged = layers.reduceRight<Dictionary>(
    (below, { file, data }) => lay(below, data as Dictionary, [], (path) => origins.set(path.join('\n'), file)),
    {},
  );
  // Every file may declare secrets; none can take one back.
  const secrets = [...new Set(layers.flatMap(({ data }) => data.secrets ?? []))];
  if (secrets.length > 0) merged.secrets = secrets;
  delete merged.$schema;
  return {
    data: merged as ConfigData,
    files: layers.map(({ file }) => file),
    fileOf: (path) => origins.get(path.join('\n')),
  };
}

function lay(below: Dictionary, above: Dictionary, path: string[], note: (path: string[]) => void): Dictionary {
  const both: Dictionary = Object.assign(Object.create(null), below);
  for (const [key, value] of Object.entries(above)) {
    if (value === undefined) continue;
    const here = [...path, key];
    note(here);
    both[key] = isDictionary(value) && !isWhole(here) ? lay(asDictionary(both[key]), value, here, note) : value;
  }
  return both;
}

/** A price is one thing, and so is a named backend: a program of one file with the variables of another would be neither's. */
const isWhole = ([first, kind, name]: readonly string[]): boolean =>
  (first === 'prices' && kind !== undefined) ||
  (first === 'backends' && name !== undefined && BACKEND_KINDS[kind as string]?.many === true);

const isDictionary = (value: unknown): value is Dictionary =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const asDictionary = (value: unknown): Dictionary => (isDictionary(value) ? value : {});
