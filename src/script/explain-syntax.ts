/** Makes the most of a syntax error: acorn knows the place, V8 often has the better words. */
import { Script } from 'node:vm';
import { type Token, tokenizer, tokTypes } from 'acorn';
import { splitLines } from './code-frame.js';
import { CODE_HEAD, CODE_TAIL } from './wrap-script.js';

export interface SyntaxExplanation {
  message: string;
  at: number;
  remedy: string;
}

const LOOK_AT_LINE = 'Correct the line; `wf check` shows whether anything else is wrong.';

/** @param message acorn's, without its place */
export function explainSyntaxError(text: string, message: string, at: number): SyntaxExplanation {
  const isAtEnd = text.slice(at).trim() === '' && message === 'Unexpected token';
  if (isAtEnd || message === 'Unterminated template') return explainEnd(text, at);
  if (/^await\b/.test(text.slice(at))) {
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
  return { message: lowerFirst(message), at, remedy: remedyFor(text, at) };
}

/** For a fault at the end of the text: what was left open has to be mended. */
export function explainEnd(text: string, at = text.length): SyntaxExplanation {
  const opener = findUnclosed(text);
  if (opener === undefined) return { message: 'unexpected end of the file', at, remedy: LOOK_AT_LINE };
  const bracket = text.startsWith('${', opener) ? '${' : text[opener];
  return {
    message:
      bracket === '`' ? 'the template that begins here is never closed' : `the \`${bracket}\` here is never closed`,
    at: opener,
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

function remedyFor(text: string, at: number): string {
  if (/[\u2018\u2019\u201c\u201d\u00ab\u00bb]/.test(text[at] ?? ''))
    return 'Use plain quotes (\' or ") instead of typographic ones.';
  if (/['"`]\s*$/.test(text.slice(Math.max(0, at - 20), at)) && /[\p{ID_Start}$]/u.test(text[at] ?? ''))
    return 'A quote inside a string may end it too early: write \\" or \\\', or use a template literal.';
  return LOOK_AT_LINE;
}

/** Where the innermost bracket or template begins that is still open at the end, or where the text stops making sense. */
function findUnclosed(text: string): number | undefined {
  const open: Token[] = [];
  try {
    for (const token of tokenizer(text, { ecmaVersion: 'latest', sourceType: 'module' })) {
      const endsTemplate = token.type === tokTypes.backQuote && open.at(-1)?.type === tokTypes.backQuote;
      if (endsTemplate || CLOSING.has(token.type)) open.pop();
      else if (OPENING.has(token.type)) open.push(token);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return open.at(-1)?.start;
}

const OPENING = new Set([
  tokTypes.braceL,
  tokTypes.parenL,
  tokTypes.bracketL,
  tokTypes.dollarBraceL,
  tokTypes.backQuote,
]);
const CLOSING = new Set([tokTypes.braceR, tokTypes.parenR, tokTypes.bracketR]);

const lowerFirst = (text: string): string => (/^[A-Z][a-z]/.test(text) ? text[0]?.toLowerCase() + text.slice(1) : text);
