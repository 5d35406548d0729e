/** The file of expectations: where it lies, how it is read, and how what happened is written into it. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { writeFileAtomic } from '../../shared/atomic-file.js';
import { messageOf, systemCode, WfError } from '../../shared/errors.js';
import { showPath } from '../../shared/quote-word.js';
import { checkExpectations, type Expectations, refuse } from './expectations.js';
import { wayInside } from '../../shared/way-inside.js';

export interface ExpectationFile {
  /** Absolute. */
  path: string;
  /** As messages name it. */
  shown: string;
  /** The cases, one without expectations where there is no file yet. */
  cases: Expectations[];
  /** Puts these members into the cases, and keeps all others as they are, comments of YAML too. */
  write(changes: readonly (Expectations | undefined)[]): Promise<void>;
}

/**
 * @param script the script's file, absolute
 * @param mayBeMissing it is going to be written
 * @throws WfError `WF_TEST_FILE`
 */
export async function openExpectations(
  script: string,
  expect: string | undefined,
  cwd: string,
  mayBeMissing: boolean,
): Promise<ExpectationFile> {
  const path = expect === undefined ? findBeside(script, mayBeMissing) : resolve(cwd, expect);
  const shown = wayInside(cwd, path) ?? path;
  const text = readText(path, shown);
  if (text === undefined && !mayBeMissing) throw missing(`There is no file ${shown}.`);
  const isJson = /\.json$/i.test(path);
  const data = text === undefined ? {} : await parse(text, isJson, shown);
  const cases = checkExpectations(data, shown);
  return {
    path,
    shown,
    cases,
    async write(changes) {
      const isList = Object.hasOwn(data as object, 'cases');
      const edits = changes.flatMap((change, index) =>
        Object.entries(change ?? {}).map(([name, value]) => [isList ? ['cases', index] : [], name, value] as const),
      );
      writeFileAtomic(path, isJson ? editJson(data, edits) : await editYaml(text ?? '{}', edits), { mode: 0o644 });
    },
  };
}

type Edits = readonly (readonly [place: readonly (string | number)[], name: string, value: unknown])[];

function editJson(data: unknown, edits: Edits): string {
  const copy = structuredClone(data);
  for (const [place, name, value] of edits) {
    const holder = place.reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], copy);
    (holder as Record<string, unknown>)[name] = value;
  }
  return `${JSON.stringify(copy, null, 2)}\n`;
}

async function editYaml(text: string, edits: Edits): Promise<string> {
  const { parseDocument, writeYaml } = await import('../../shared/parse-yaml.js');
  if (text === '{}') return writeYaml(Object.fromEntries(edits.map(([, name, value]) => [name, value])));
  const document = parseDocument(text);
  for (const [place, name, value] of edits) {
    if (value === undefined) document.deleteIn([...place, name]);
    else document.setIn([...place, name], document.createNode(value));
  }
  return document.toString();
}

function findBeside(script: string, mayBeMissing: boolean): string {
  const name = (path: string): string => showPath(basename(path));
  const stem = script.replace(/\.[^./]+$/, '');
  const [json, yaml] = [`${stem}.test.json`, `${stem}.test.yaml`] as const;
  const found = [json, yaml].filter((path) => existsSync(path));
  if (found.length === 2) {
    throw new WfError('WF_TEST_FILE', `${name(json)} and ${name(yaml)} both stand beside the script.`, {
      remedy: 'Remove one of them, or name one with --expect.',
    });
  }
  if (found.length === 0 && !mayBeMissing)
    throw missing(`There are no expectations: neither ${name(json)} nor ${name(yaml)} stands beside ${name(script)}.`);
  return found[0] ?? json;
}

const missing = (message: string): WfError =>
  new WfError('WF_TEST_FILE', message, {
    remedy: 'wf test <script> --update writes the file from what happens; --expect names another.',
  });

function readText(path: string, shown: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw refuse(shown, messageOf(error));
  }
}

async function parse(text: string, isJson: boolean, shown: string): Promise<unknown> {
  try {
    if (isJson) return JSON.parse(text);
    const { parseYaml } = await import('../../shared/parse-yaml.js');
    return parseYaml(text, { prettyErrors: true });
  } catch (error) {
    throw refuse(shown, `it does not parse: ${(messageOf(error).split('\n')[0] as string).replace(/[.:]$/, '')}`);
  }
}
