/**
 * Finds the JSON that an agent meant as its answer: the whole text, else the last fenced block that is JSON, else the last
 * outermost object or array. One pass. A value that is cut off, at its end or at its beginning, gives none of its inner
 * parts away as the answer.
 */

/** `undefined` when the text holds no JSON. */
export function extractJson(text: string): { value: unknown } | undefined {
  const trimmed = text.charCodeAt(0) === 0xfeff ? text.slice(1).trim() : text.trim();
  if (trimmed === '') return undefined;
  return parse(trimmed) ?? lastFencedBlock(trimmed) ?? lastOutermost(trimmed);
}

function parse(text: string): { value: unknown } | undefined {
  // A failed parse is dear, and most texts show by their first character that they are no JSON.
  if (!/^[[{"\-\dtfn]/.test(text)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** So many pieces at the end are tried: a text may be made of broken ones. */
const MAX_TRIED = 100;

/** A line that starts with a fence cannot lie in a JSON string, so fences pair up as they come. */
function lastFencedBlock(text: string): { value: unknown } | undefined {
  const fences = [...text.matchAll(/^[ \t]*```[^\n`]*$/gm)];
  const last = fences.length - (fences.length % 2) - 2;
  for (let i = last; i >= 0 && i > last - 2 * MAX_TRIED; i -= 2) {
    const open = fences[i] as RegExpExecArray;
    const found = parse(text.slice(open.index + open[0].length, fences[i + 1]?.index).trim());
    if (found) return found;
  }
  return undefined;
}

function lastOutermost(text: string): { value: unknown } | undefined {
  const pieces: [number, number][] = [];
  for (let at = nextOpening(text, 0); at < text.length; ) {
    const end = skipValue(text, at);
    if (end.complete) pieces.push([at, end.at]);
    at = nextOpening(text, end.at);
  }
  const last = pieces.at(-1)?.[1];
  // A part of another value, or of a string in it.
  if (
    last !== undefined &&
    !endsLine(text, last) &&
    (closesMore(text, last) || closesMore(text, skipString(text, last - 1)))
  )
    return undefined;
  for (const [start, end] of pieces.slice(-MAX_TRIED).reverse()) {
    const found = parse(text.slice(start, end));
    if (found) return found;
  }
  return undefined;
}

const LINE_END = /[ \t\r]*\n\s*/y;

/**
 * A line ends here, and what follows does not go on with a value around it: no string holds a line break, and behind an
 * inner value comes a comma or a bracket. So prose that follows may have any brackets.
 */
function endsLine(text: string, at: number): boolean {
  LINE_END.lastIndex = at;
  if (!LINE_END.test(text)) return false;
  const next = text[LINE_END.lastIndex];
  return next !== undefined && !',}]'.includes(next);
}

/** More is closed here than is opened: it was opened before. */
function closesMore(text: string, from: number): boolean {
  let open = 0;
  for (let at = from; at < text.length; ) {
    const char = text[at];
    if (char === '{' || char === '[') open++;
    else if ((char === '}' || char === ']') && --open < 0) return true;
    at = char === '"' ? skipString(text, at) : at + 1;
  }
  return false;
}

function nextOpening(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== OPEN_BRACE && text.charCodeAt(at) !== OPEN_BRACKET) at++;
  return at;
}

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const SCALAR = /(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/** Goes over one object or array; `at` is the place after it, or after the first character that cannot be right. */
function skipValue(text: string, start: number): { complete: boolean; at: number } {
  const open: string[] = [];
  let at = start;
  // What may come next: a value, a member's name, or what follows a value. `first` allows an empty `{}` or `[]`.
  let expects: 'value' | 'name' | 'after' = 'value';
  let first = false;
  for (;;) {
    at = skipSpace(text, at);
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
      const end = char === '"' ? skipSpace(text, skipString(text, at)) : -1;
      if (text[end] !== ':') return { complete: false, at: Math.max(at, start + 1) };
      at = end + 1;
      expects = 'value';
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']');
      at++;
      first = true;
      expects = char === '{' ? 'name' : 'value';
    } else {
      const end = char === '"' ? skipString(text, at) : skipScalar(text, at);
      if (end === at) return { complete: false, at: Math.max(at, start + 1) };
      at = end;
      expects = 'after';
    }
  }
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && ' \t\r\n'.includes(text[at] as string)) at++;
  return at;
}

function skipScalar(text: string, at: number): number {
  SCALAR.lastIndex = at;
  return SCALAR.test(text) ? SCALAR.lastIndex : at;
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
