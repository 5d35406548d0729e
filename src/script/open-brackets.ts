/** Finds brackets and templates that have no counterpart in a text that cannot be parsed. */
import { type Token, tokenizer, tokTypes } from 'acorn';

export interface LoneBracket {
  at: number;
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
export function findOpen(text: string, end = text.length): LoneBracket | undefined {
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

/** The first closing bracket that closes nothing. */
export function findSurplus(text: string): LoneBracket | undefined {
  let depth = 0;
  try {
    for (const { type, start } of tokenizer(text, { ecmaVersion: 'latest', sourceType: 'module' })) {
      if (type !== tokTypes.backQuote && OPENING.has(type)) depth++;
      else if (CLOSING.has(type) && --depth < 0) return { at: start, sign: text[start] as string };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return undefined;
}

/** What closes it. */
export const closerOf = (sign: string): string => ({ '(': ')', '[': ']', '{': '}', '${': '}' })[sign] ?? sign;
