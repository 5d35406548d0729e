/** Splits a command line into words as a POSIX shell does, and does nothing else that a shell does: no expansion, no operators. */
import { WfError } from '../../shared/errors.js';

/**
 * Reads `--command`: words with quotes and backslashes, or a JSON array of texts.
 *
 * @throws WfError `WF_BACKEND_CONFIG` for an open quote, a broken array or no program at all
 * @example parseCommandLine(`claude -p 'two words'`) // ['claude', '-p', 'two words']
 */
export function parseCommandLine(text: string): string[] {
  const argv = /^\s*\[\s*(?:"|\])/.test(text) ? parseArray(text) : splitWords(text);
  if (!argv[0]) throw refuse(text, 'it names no program');
  if (argv.some((word) => word.includes('\0'))) throw refuse(text, 'it holds a NUL character');
  return argv;
}

function parseArray(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refuse(text, 'it starts like a JSON array and is none');
  }
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) {
    throw refuse(text, 'the JSON array may hold texts only');
  }
  return value;
}

function splitWords(text: string): string[] {
  const words: string[] = [];
  // `undefined` between words: quotes may make an empty one.
  let word: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === '\\' && quote !== "'") {
      const next = text[++i];
      if (next === undefined) throw refuse(text, 'it ends with a backslash');
      // In double quotes a backslash is itself, unless one of these follows. With a line end both vanish.
      if (next !== '\n') word = (word ?? '') + (quote && !'$`"\\'.includes(next) ? `\\${next}` : next);
    } else if (quote) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/[ \t\r\n]/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + char;
    }
  }
  if (quote) throw refuse(text, `a ${quote} is not closed`);
  if (word !== undefined) words.push(word);
  return words;
}

const refuse = (text: string, reason: string): WfError =>
  new WfError('WF_BACKEND_CONFIG', `Not a command: ${JSON.stringify(text.slice(0, 200))}; ${reason}.`, {
    remedy: `Give a program and its arguments, as --command 'my-agent --flag "two words"' or as a JSON array of texts.`,
  });
