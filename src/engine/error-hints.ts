/** What a report adds to an error whose own words name the symptom: the cause, as scripts really have it. */
import { ABSENT_GLOBALS, PRESENT_GLOBALS } from '../script/known-globals.js';
import { nearestWord } from '../shared/nearest-word.js';
import type { SandboxError } from './sandbox/frames.js';

/** @param before the line of the script as far as the place of the error, where it is known */
export function hintFor({ name, message }: SandboxError, before: string | undefined): string {
  if (name === 'ReferenceError') return missingName(message);
  if (name === 'TypeError') return unawaited(message) ?? missingArgs(message, before) ?? noList(message) ?? '';
  if (name === 'SyntaxError' && /JSON/.test(message) && /\bJSON\s*\.\s*$/.test(before ?? ''))
    return '. An agent answers in free words; with the option `schema` its answer is data, checked and parsed.';
  return '';
}

/** What to write instead of a name that a workflow does not have. */
function missingName(message: string): string {
  const missing = /^([\p{ID_Start}$_][\p{ID_Continue}$]*) is not defined$/u.exec(message)?.[1];
  if (missing === undefined) return '';
  const instead = ABSENT_GLOBALS.get(missing);
  if (instead !== undefined) return ` in a workflow. ${instead}`;
  const nearest = nearestWord(missing, PRESENT_GLOBALS);
  return nearest === undefined ? '' : `. Did you mean \`${nearest}\`?`;
}

/** `await parallel(…).filter(Boolean)`: the await is for what `filter` gives. */
function unawaited(message: string): string | undefined {
  const found = /^(agent|agent\.settled|parallel|pipeline|workflow)\(\.\.\.\)\.(\w+) is not a function$/.exec(message);
  if (found === null) return undefined;
  return `. It is a promise until it is awaited: \`(await ${found[1]}(…)).${found[2]}\`.`;
}

const NO_ARGS = '. `args` is undefined where the run was given none: pass them by `--args` or `--arg`.';

function missingArgs(message: string, before = ''): string | undefined {
  // A full stop of V8's own is not repeated.
  if (/ of 'args' as it is undefined\.$/.test(message)) return NO_ARGS.slice(1);
  if (!/^Cannot read properties of undefined /.test(message)) return undefined;
  const [, member] = /(?<![\w$.])args(?:\s*\.\s*([\w$]+))?\s*\.\s*$/.exec(before) ?? [];
  if (member !== undefined) return `. Pass \`${member}\` in args: \`--arg ${member}:=…\` or \`--args\`.`;
  return /(?<![\w$.])args\s*\.\s*$/.test(before) ? NO_ARGS : undefined;
}

/** What only lists have, and scripts use most. */
const OF_LISTS = '(?:map|forEach|filter|flatMap|reduce|some|every|find|sort|join|flat)';
const ARGS_NO_LIST = new RegExp(`^args(?:\\.([\\w$]+))?\\.${OF_LISTS} is not a function$`);

/** `--arg files=["a"]` is a text that looks like a list. */
function noList(message: string): string | undefined {
  const found = ARGS_NO_LIST.exec(message);
  if (found === null) return undefined;
  const [, member] = found;
  return member === undefined
    ? '. `args` is no list: `--args \'["a","b"]\'` gives one.'
    : `. \`args.${member}\` is no list: \`--arg ${member}:='["a","b"]'\` gives one, and \`--arg ${member}=…\` always a text.`;
}
