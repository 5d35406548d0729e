/** Parses one file of the config and checks it. A fault names its place, its cause and a remedy, and never a value that may be a secret. */
import * as z from 'zod';
import { messageOf, type SourcePlace, WfError } from '../shared/errors.js';
import { nearestWord } from '../shared/nearest-word.js';
import type { ConfigFile } from './config-files.js';
import type { ConfigSchema } from './config-schema.js';

export type ConfigData = z.infer<ConfigSchema>;
type Path = readonly PropertyKey[];

/** @throws WfError `WF_CONFIG`, with one more error for each further fault */
export async function checkConfig(file: ConfigFile, schema: ConfigSchema): Promise<ConfigData> {
  const data = parse(file);
  const checked = schema.safeParse(data);
  if (checked.success) return checked.data;
  const known = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  const places = await openPlaces(file);
  const faults = checked.error.issues.flatMap((issue) => describeIssue(issue, data, known));
  const errors = faults
    .map(({ path, text, remedy }) => makeError(places(path), text, remedy))
    .sort((a, b) => (a.place?.line ?? 0) - (b.place?.line ?? 0) || (a.place?.column ?? 0) - (b.place?.column ?? 0));
  const [first, ...others] = errors as [WfError, ...WfError[]];
  throw new WfError('WF_CONFIG', first.message, {
    ...(first.remedy === undefined ? {} : { remedy: first.remedy }),
    ...(first.place === undefined ? {} : { place: first.place }),
    others,
  });
}

/** A byte order mark is taken away; comments are refused, as every other reader of JSON would refuse them. */
function parse(file: ConfigFile): unknown {
  const text = file.text.replace(/^\u{feff}/u, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = messageOf(error).replace(/,? ?"[\s\S]*" is not valid JSON/, ' is not valid JSON');
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
    const place = { file: file.shown, ...(line === undefined ? {} : { line: Number(line), column: Number(column) }) };
    const told = message.replace(/ in JSON at position.*/s, '').replace(/ is not valid JSON/, '');
    const comment = /^\s*(\/\/|\/\*)/m.test(text) ? ' Comments are not allowed.' : '';
    const what = text.trim() === '' ? 'it is empty' : told;
    throw makeError(place, `The config is no JSON: ${what}.${comment}`, 'Mend it there; {} is the smallest config.');
  }
}

const makeError = (place: SourcePlace, text: string, remedy: string | undefined): WfError =>
  new WfError('WF_CONFIG', text, { ...(remedy === undefined ? {} : { remedy }), place });

interface Fault {
  path: Path;
  text: string;
  remedy?: string;
}

function describeIssue(issue: z.core.$ZodIssue, data: unknown, known: JsonSchema): Fault[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') {
    const keys = keysAt(known, path);
    return issue.keys.map((key) => {
      const nearest = nearestWord(key, keys);
      const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
      return {
        path: [...path, key],
        text: `Unknown key ${showPath([...path, key])}.${meant}`,
        remedy: `Known here: ${keys.join(', ')}.`,
      };
    });
  }
  if (issue.code === 'invalid_key') return [{ path, text: `the name ${showPath(path)} ${issue.issues[0]?.message}.` }];
  const value = path.reduce<unknown>((part, step) => (part as Record<PropertyKey, unknown> | undefined)?.[step], data);
  return [{ path, text: `${path.length === 0 ? 'the config' : showPath(path)} ${issue.message}${showValue(value)}.` }];
}

/** Texts may be secrets that were pasted into the wrong place: only those that look harmless are shown. */
function showValue(value: unknown): string {
  if (value === undefined) return '; it is missing';
  if (typeof value === 'string') return value.length <= 11 ? `; got ${JSON.stringify(value)}` : '; got another text';
  if (typeof value === 'object')
    return Array.isArray(value) ? '; got a list' : value === null ? '; got null' : '; got an object';
  return `; got ${String(value)}`;
}

const showPath = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
}

function keysAt(schema: JsonSchema, path: Path): string[] {
  let here: JsonSchema | undefined = schema;
  for (const step of path) {
    const rest: JsonSchema | boolean | undefined = here?.additionalProperties;
    here = here?.properties?.[String(step)] ?? (typeof rest === 'object' ? rest : undefined);
  }
  return Object.keys(here?.properties ?? {});
}

/** Line and column of what a path names, found by a parser that is loaded only for a faulty file. */
async function openPlaces({ text, shown }: ConfigFile): Promise<(path: Path) => SourcePlace> {
  const { findPlace } = await import('./find-place.js');
  return (path) => ({ file: shown, ...findPlace(text, path) });
}
