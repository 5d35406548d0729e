import { parseExpressionAt, type Token, tokenizer } from 'acorn';
import type { WorkflowMeta } from './checked-script.js';
import { PARSE_OPTIONS } from './parse-script.js';
import { readMetaObject } from './read-meta.js';

/**
 * The meta of a script without a look at its body, so that a folder is listed fast and a workflow with a fault in its body
 * is still found by its name. Nothing is executed. A text: why there is none.
 */
export function peekMeta(source: string): WorkflowMeta | string {
  const bare = source.replace(/^\ufeff/, '');
  const text = bare.startsWith('#!') ? `//${bare.slice(2)}` : bare;
  try {
    const start = findMetaValue(text);
    if (start === undefined) return 'it does not begin with `export const meta = {…}`';
    const node = parseExpressionAt(text, start, PARSE_OPTIONS);
    if (node.type !== 'ObjectExpression') return 'its meta is not an object literal';
    const { meta, refusals } = readMetaObject(node);
    return meta ?? lowerFirst(refusals[0]?.message ?? 'its meta is wrong').replace(/\.$/, '');
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return 'its beginning cannot be parsed';
    throw error;
  }
}

/** Where the value of `export const meta = …` begins; types and `import type` may stand before it. */
function findMetaValue(text: string): number | undefined {
  const tokens = tokenizer(text, PARSE_OPTIONS);
  let token = tokens.getToken();
  while (['string', ';', 'import'].includes(token.type.label)) {
    token = token.type.label === 'import' ? skipImport(tokens) : tokens.getToken();
  }
  const words = [token, tokens.getToken(), tokens.getToken()];
  if (words.map((word) => text.slice(word.start, word.end)).join(' ') !== 'export const meta') return undefined;
  for (let left = 1000; left > 0; left--) {
    const next = tokens.getToken();
    if (next.type.label === 'eof') return undefined;
    if (text.slice(next.start, next.end) === '=') return next.end;
  }
  return undefined;
}

function skipImport(tokens: ReturnType<typeof tokenizer>): Token {
  let token = tokens.getToken();
  for (let left = 1000; left > 0 && !['string', 'eof'].includes(token.type.label); left--) token = tokens.getToken();
  return tokens.getToken();
}

const lowerFirst = (text: string): string => text.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
