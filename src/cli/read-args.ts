/** The workflow's args from the command line: parsed exactly once. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { quoteWord } from '../shared/quote-word.js';

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
  if (flags.args !== undefined) return { value: parseJson('--args', flags.args, remedyForArgs(flags.args)) };
  if (flags.argsFile !== undefined)
    return { value: parseJson(`--args-file ${flags.argsFile}`, readText(flags.argsFile)) };
  if (flags.argsText !== undefined) return { value: flags.argsText };
  if (flags.arg !== undefined) return { value: readPairs(flags.arg) };
  return undefined;
}

function parseJson(what: string, text: string, remedy = NO_JSON): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new WfError('WF_ARGS', `${what} is no JSON: ${messageOf(error)}.`, {
      remedy: remedyForJson(text) ?? remedy,
    });
  }
}

const NO_JSON = 'Plain text goes into --args-text, a file into --args-file, single values into --arg name=text.';

/** Where the text names a file, as other tools take it, that one was meant. */
function remedyForArgs(text: string): string {
  const file = text.replace(/^@/, '');
  return existsSync(file) && !statSync(file).isDirectory()
    ? `To read the file: --args-file ${quoteWord(file)}`
    : NO_JSON;
}

/** What people write into JSON out of habit, looked for outside of its texts. */
function remedyForJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  // Within a word they are those of an address or a pattern, of which the shell has taken the quotes.
  if (/[\s,"\d{}[\]]\/[/*]/.test(bare)) return 'JSON takes no comments.';
  if (/'|[{,]\s*[\p{ID_Start}$_][\p{ID_Continue}$]*\s*:/u.test(bare))
    return 'Names and texts stand in double quotes: \'{ "name": "text" }\'.';
  return /,\s*[\]}]/.test(bare) ? 'No comma stands before a closing bracket.' : undefined;
}

function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    const reason = systemCode(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw new WfError('WF_ARGS', `The args file ${path} cannot be read: ${reason}.`, {
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
    args.push([name, how === ':=' ? parseJson(`--arg ${name}`, text, remedyForValue(name)) : text]);
  }
  return Object.fromEntries(args);
}

const remedyForValue = (name: string): string =>
  `Write --arg ${name}=… for text; after := stands JSON, such as 5, true or ["a","b"].`;
