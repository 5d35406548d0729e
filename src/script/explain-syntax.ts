/** Makes the most of a syntax error: acorn knows the place, V8 often has the better words. */
import { Script } from 'node:vm';
import { splitLines } from './code-frame.js';
import { closerOf, findOpen } from './open-brackets.js';
import { CODE_HEAD, CODE_TAIL } from './wrap-script.js';

export interface SyntaxExplanation {
  message: string;
  at: number;
  remedy: string;
}

const ESCAPE = 'Write `\\\\` for a backslash; in a template `String.raw` keeps it as it is.';
const LOOK_AT_LINE = 'Correct the line; `wf check` shows whether anything else is wrong.';

/** @param message acorn's, without its place */
export function explainSyntaxError(text: string, message: string, at: number): SyntaxExplanation {
  const isAtEnd = text.slice(at).trim() === '' && message === 'Unexpected token';
  if (isAtEnd || message === 'Unterminated template') return explainEnd(text, at);
  if (/^await\b/.test(text.slice(at)) && !/default value|static/.test(message)) {
    return {
      message: '`await` stands in a function that is not async',
      at,
      remedy: 'Write `async` before the function.',
    };
  }
  if (message === 'Unexpected token') {
    const line = splitLines(text.slice(0, at)).length;
    const theirs = compileError(text.replace(/\bexport(?=\s+const\s+meta\b)/, '      '));
    const said = theirs?.line === line ? theirs.message : unexpected(text, at);
    return { message: lowerFirst(said), at, remedy: remedyFor(text, at) };
  }
  if (/escape sequence/.test(message)) return { message: lowerFirst(message), at, remedy: ESCAPE };
  const unseen = message.startsWith('Unexpected character') ? nameUnseen(text, at) : undefined;
  if (unseen !== undefined) {
    return {
      message: `unexpected character ${unseen}, which is not visible`,
      at,
      remedy: 'Remove it; it often comes along when text is copied from a page.',
    };
  }
  return { message: lowerFirst(message), at, remedy: remedyFor(text, at) };
}

/** For a fault at the end of the text: what was left open has to be mended. */
export function explainEnd(text: string, at = text.length): SyntaxExplanation {
  const opener = findOpen(text);
  if (opener === undefined) return { message: 'unexpected end of the file', at, remedy: LOOK_AT_LINE };
  const { sign } = opener;
  return {
    message: sign === '`' ? 'the template that begins here is never closed' : `the \`${sign}\` here is never closed`,
    at: opener.at,
    remedy: 'Close it where it should end; the end of the file was reached.',
  };
}

/**
 * What V8 says about the wrapped script; it is compiled, never run. `line` and `column` are those of the body, from 1.
 */
export function compileError(body: string): { message: string; line: number; column: number } | undefined {
  try {
    new Script(CODE_HEAD + body + CODE_TAIL, { filename: 'workflow' });
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The stack begins with the place, the line and a mark under it.
    const [place = '', , mark = ''] = String(error.stack).split('\n', 3);
    const line = Number(/^workflow:(\d+)$/.exec(place)?.[1] ?? Number.NaN);
    const column = mark.indexOf('^') + 1 - (line === 1 ? CODE_HEAD.length : 0);
    return { message: error.message, line, column: Math.max(1, column) };
  }
}

function unexpected(text: string, at: number): string {
  const [token = ''] = /^(?:[\p{ID_Continue}$]+|\S)/u.exec(text.slice(at, at + 40)) ?? [];
  return token ? `Unexpected token '${token}'` : 'Unexpected token';
}

/** What to do about a fault of which only the place is known. */
export function remedyFor(text: string, at: number): string {
  if (/[\u2018\u2019\u201c\u201d\u00ab\u00bb]/.test(text[at] ?? ''))
    return 'Use plain quotes (\' or ") instead of typographic ones.';
  const before = text.slice(Math.max(0, at - 20), at);
  if (/`\s*$/.test(before) && /[\p{ID_Start}$]/u.test(text[at] ?? ''))
    return 'A backtick inside a template ends it: write \\` there.';
  if (/['"]\s*$/.test(before) && /[\p{ID_Start}$]/u.test(text[at] ?? ''))
    return 'A quote inside a string may end it too early: write \\" or \\\', or use a template literal.';
  return remedyForBracket(text, at) ?? LOOK_AT_LINE;
}

/** Words with which a statement begins and no part of an expression does. */
const STATEMENT = /^(?:return|const|let|var|if|for|while|do|throw|try|switch|break|continue)\b/;

/** Where a statement or a closing bracket stands that cannot stand there, a bracket before it is the likely fault. */
function remedyForBracket(text: string, at: number): string | undefined {
  const found = text[at] ?? '';
  if (!/[)\]}]/.test(found) && !STATEMENT.test(text.slice(at, at + 10))) return undefined;
  const open = findOpen(text, at);
  if (open === undefined) {
    const opener = { ')': '(', ']': '[', '}': '{' }[found];
    return opener && `It closes nothing: remove it, or find the \`${opener}\` that is missing before it.`;
  }
  const closer = closerOf(open.sign);
  // In a block a statement is at home, so that something else is wrong there.
  if (open.sign === '{' ? !/[)\]]/.test(found) : found === closer) return undefined;
  const line = splitLines(text.slice(0, open.at)).length;
  return `The \`${open.sign}\` of line ${line} is still open here: is a \`${closer}\` missing?`;
}

/** `U+200B` for a character that leaves no trace on the screen. */
function nameUnseen(text: string, at: number): string | undefined {
  const character = text.codePointAt(at) ?? 0;
  if (!/^[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]$/u.test(String.fromCodePoint(character))) return undefined;
  return `U+${character.toString(16).toUpperCase().padStart(4, '0')}`;
}

const lowerFirst = (text: string): string => (/^[A-Z][a-z]/.test(text) ? text[0]?.toLowerCase() + text.slice(1) : text);
