/** Finds brackets and templates that are still open at a place of a text that cannot be parsed. */
import { type Token, tokenizer, tokTypes } from 'acorn';

export interface OpenBracket {
  at: number;
  /** `(`, `[`, `{`, `${` or a backtick. */
  sign: string;
}

const OPENING = new Map([
  [tokTypes.braceL, '{'],
  [tokTypes.parenL, '('],
  [tokTypes.bracketL, '['],
  [tokTypes.dollarBraceL, '${'],
  [tokTypes.backQuote, '`'],
]);
const CLOSING = new Set([tokTypes.braceR, tokTypes.parenR, tokTypes.bracketR]);

/** The innermost one that is open at `end`, or where the text stops making sense. */
export function findOpen(text: string, end = text.length): OpenBracket | undefined {
  const open: Token[] = [];
  try {
    for (const token of tokenizer(text, { ecmaVersion: 'latest', sourceType: 'module' })) {
      if (token.start >= end) break;
      const endsTemplate = token.type === tokTypes.backQuote && open.at(-1)?.type === tokTypes.backQuote;
      if (endsTemplate || CLOSING.has(token.type)) open.pop();
      else if (OPENING.has(token.type)) open.push(token);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  const last = open.at(-1);
  return last && { at: last.start, sign: OPENING.get(last.type) as string };
}

/** What closes it. */
export const closerOf = (sign: string): string => ({ '(': ')', '[': ']', '{': '}', '${': '}' })[sign] ?? sign;
