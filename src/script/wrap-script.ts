/**
 * The body becomes one strict async function. Head and first line share line 1, so that every line is the user's own and
 * only the columns of line 1 are shifted. Whoever compiles the text must have parsed the body first: a body with `})`
 * of its own would otherwise end the wrapper.
 */
export const CODE_HEAD = '(async function(){"use strict";';
export const CODE_TAIL = '\n})';

/** @param exportAt offset of the word `export` before `const meta`: a function body cannot hold it */
export function wrapScript(text: string, exportAt: number): { code: string; columnOffset: number } {
  const word = 'export'.length;
  const body = text.slice(0, exportAt) + ' '.repeat(word) + text.slice(exportAt + word);
  return { code: CODE_HEAD + body + CODE_TAIL, columnOffset: -CODE_HEAD.length };
}
