/** `@swc/wasm-typescript` behind a function of text, with offsets instead of terminal columns. */
import { createRequire } from 'node:module';
import { CODE_HEAD, CODE_TAIL } from './wrap-script.js';

export interface StripFault {
  /** `module`: an import or export; `unsupported`: TypeScript that is more than types; `crashed`: the stripper broke. */
  kind: 'syntax' | 'unsupported' | 'module' | 'crashed';
  /** Offset in the given text. */
  at: number;
  message: string;
}

type Stripper = typeof import('@swc/wasm-typescript');

/** What it throws (no Error). Lines count from 1; columns from 0, as a terminal shows them. */
interface Thrown {
  code: string;
  message: string;
  startLine: number;
  startColumn: number;
}

const require = createRequire(import.meta.url);
const load = (): Stripper => require('@swc/wasm-typescript');

/** A function body without its types, of the same length, or what is wrong with it. */
export function blankTypes(body: string): string | StripFault {
  const thrown = attempt(body);
  if (typeof thrown === 'string') return thrown;
  if (thrown instanceof Error) return { kind: 'crashed', at: 0, message: thrown.message };
  const kind = thrown.message.includes('outside of module code')
    ? 'module'
    : thrown.code === 'UnsupportedSyntax'
      ? 'unsupported'
      : 'syntax';
  return { kind, at: offsetOfFault(body, thrown), message: thrown.message };
}

function attempt(body: string): string | Error | Thrown {
  try {
    const { code } = load().transformSync(CODE_HEAD + body + CODE_TAIL, { mode: 'strip-only' });
    const stripped = code.slice(CODE_HEAD.length, -CODE_TAIL.length);
    return stripped.length === body.length ? stripped : new Error('its text was moved');
  } catch (error) {
    if (!(error instanceof Error)) return error as Thrown;
    // After a trap the module's memory is in an unknown state, and every later call would fail too.
    delete require.cache[require.resolve('@swc/wasm-typescript')];
    return error;
  }
}

/**
 * Tabs count as four columns there, wide characters as two, marks as none. So the same fault is looked for in a twin of
 * the text in which every UTF-16 unit is one column wide.
 */
function offsetOfFault(body: string, thrown: Thrown): number {
  let { startLine, startColumn } = thrown;
  const twin = narrow(body);
  if (twin !== body) {
    const again = attempt(twin);
    if (typeof again === 'object' && !(again instanceof Error) && again.code === thrown.code)
      ({ startLine, startColumn } = again);
  }
  const lines = [...(CODE_HEAD + twin + CODE_TAIL).matchAll(/(?:^|\r\n|[\n\r])/g)];
  const line = lines[startLine - 1];
  const start = line ? line.index + line[0].length : CODE_HEAD.length + body.length;
  return Math.min(Math.max(0, start + startColumn - CODE_HEAD.length), body.length);
}

const narrow = (text: string): string =>
  text.replace(/[^\x20-\x7e\n\r]/g, (unit) => (unit < ' ' || unit === '\x7f' || /\s/.test(unit) ? ' ' : 'x'));
