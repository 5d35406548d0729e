/**
 * Finds the JSON that an agent meant as its answer: the whole text, else the last fenced block that is JSON, else the last
 * outermost object or array. One pass. A value that is cut off gives none of its inner parts away as the answer.
 */

/** `undefined` when the text holds no JSON. */
export function extractJson(text: string): { value: unknown } | undefined {
  const trimmed = text.charCodeAt(0) === 0xfeff ? text.slice(1).trim() : text.trim();
  if (trimmed === '') return undefined;
  return parse(trimmed) ?? lastFencedBlock(trimmed) ?? lastOutermost(trimmed);
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** A line that starts with a fence cannot lie in a JSON string, so fences pair up as they come. */
function lastFencedBlock(text: string): { value: unknown } | undefined {
  const fences = [...text.matchAll(/^[ \t]*```[^\n`]*$/gm)];
  for (let i = fences.length - (fences.length % 2) - 2; i >= 0; i -= 2) {
    const open = fences[i] as RegExpExecArray;
    const found = parse(text.slice(open.index + open[0].length, fences[i + 1]?.index).trim());
    if (found) return found;
  }
  return undefined;
}

function lastOutermost(text: string): { value: unknown } | undefined {
  let last: { value: unknown } | undefined;
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    if (char !== '{' && char !== '[') {
      at++;
      continue;
    }
    const end = skipValue(text, at);
    if (end.complete) last = parse(text.slice(at, end.at)) ?? last;
    at = end.at;
  }
  return last;
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR = /(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/** Goes over one object or array; `at` is the place after it, or after the first character that cannot be right. */
function skipValue(text: string, start: number): { complete: boolean; at: number } {
  const open: string[] = [];
  let at = start;
  // What may come next: a value, a member's name, or what follows a value. `first` allows an empty `{}` or `[]`.
  let expects: 'value' | 'name' | 'after' = 'value';
  let first = false;
  for (;;) {
    at = skip(SPACE, text, at);
    const char = text[at];
    if (char === undefined) return { complete: false, at };
    const closes = char === open.at(-1) && (expects === 'after' || first);
    first = false;
    if (closes) {
      open.pop();
      at++;
      if (open.length === 0) return { complete: true, at };
      expects = 'after';
    } else if (expects === 'after') {
      if (char !== ',') return { complete: false, at: Math.max(at, start + 1) };
      at++;
      expects = open.at(-1) === '}' ? 'name' : 'value';
    } else if (expects === 'name') {
      const end = char === '"' ? skip(SPACE, text, skipString(text, at)) : -1;
      if (text[end] !== ':') return { complete: false, at: Math.max(at, start + 1) };
      at = end + 1;
      expects = 'value';
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']');
      at++;
      first = true;
      expects = char === '{' ? 'name' : 'value';
    } else {
      const end = char === '"' ? skipString(text, at) : skip(SCALAR, text, at);
      if (end === at) return { complete: false, at: Math.max(at, start + 1) };
      at = end;
      expects = 'after';
    }
  }
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The place after the closing quote, or the end of the text. */
function skipString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes++;
    at = quote + 1;
    if (slashes % 2 === 0) return at;
  }
}
