/** The workflow's args from the command line: parsed exactly once. */
import { readFileSync } from 'node:fs';
import { messageOf, WfError } from '../shared/errors.js';

export interface ArgsFlags {
  args?: string;
  argsFile?: string;
  argsText?: string;
  arg?: string[];
}

/**
 * @returns undefined when no args were given
 * @throws WfError `WF_ARGS` for text that does not parse, or for more than one source of args
 */
export function readArgs(flags: ArgsFlags): { value: unknown } | undefined {
  const given = [
    flags.args !== undefined && '--args',
    flags.argsFile !== undefined && '--args-file',
    flags.argsText !== undefined && '--args-text',
    flags.arg !== undefined && '--arg',
  ].filter((name) => name !== false);
  if (given.length > 1)
    throw new WfError('WF_ARGS', `${given.join(' and ')} cannot be given together.`, {
      remedy: 'Give the args in one way.',
    });
  if (flags.args !== undefined) return { value: parseJson('--args', flags.args) };
  if (flags.argsFile !== undefined)
    return { value: parseJson(`--args-file ${flags.argsFile}`, readText(flags.argsFile)) };
  if (flags.argsText !== undefined) return { value: flags.argsText };
  if (flags.arg !== undefined) return { value: readPairs(flags.arg) };
  return undefined;
}

function parseJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new WfError('WF_ARGS', `${what} is no JSON: ${messageOf(error)}.`, {
      remedy: 'Plain text goes into --args-text, a file into --args-file, single values into --arg name=text.',
    });
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new WfError('WF_ARGS', `The args file ${path} cannot be read: ${messageOf(error)}.`, {
      remedy: 'Name a file that can be read, or - for stdin.',
    });
  }
}

/** `name=text` is always text; `name:=json` is typed. */
function readPairs(pairs: readonly string[]): Record<string, unknown> {
  const args: [string, unknown][] = [];
  for (const pair of pairs) {
    const match = /^([^=:][^=]*?)(:?=)(.*)$/s.exec(pair);
    if (match === null) {
      throw new WfError('WF_ARGS', `--arg ${JSON.stringify(pair)} is not name=text.`, {
        remedy: 'Write --arg name=text or --arg name:=json.',
      });
    }
    const [, name = '', how, text = ''] = match;
    args.push([name, how === ':=' ? parseJson(`--arg ${name}`, text) : text]);
  }
  return Object.fromEntries(args);
}
