import type * as ast from 'acorn';
import { fullAncestor } from 'acorn-walk';
import { nearestWord } from '../../shared/nearest-word.js';
import { LAZY_GLOBALS } from '../lazy-globals.js';
import type { CheckContext } from './context.js';

/** What a script may expect to find besides its own names. */
const PRESENT: ReadonlySet<string> = new Set(
  [
    'agent parallel pipeline phase log workflow budget args',
    'console setTimeout clearTimeout queueMicrotask globalThis undefined NaN Infinity eval arguments',
    'isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape',
    'Object Function Boolean Symbol Number BigInt Math Date String RegExp Array Map Set WeakMap WeakSet Promise Proxy',
    'Reflect JSON Intl Iterator Temporal ArrayBuffer DataView Float16Array Float32Array Float64Array Int8Array Int16Array',
    'Int32Array Uint8Array Uint8ClampedArray Uint16Array Uint32Array BigInt64Array BigUint64Array DisposableStack',
    'AsyncDisposableStack Error AggregateError EvalError RangeError ReferenceError SuppressedError SyntaxError TypeError',
    'URIError',
    LAZY_GLOBALS.join(' '),
  ].flatMap((names) => names.split(' ')),
);

const ONE_FILE = 'A workflow is one file and loads nothing; let an agent do it.';
const BY_AGENT = 'Let an agent do it: only agents reach the outside.';
const BY_ARGS = 'Pass it in through args.';
const IN_ORDER = 'Use plain values; a workflow has one thread and is replayed in order.';

/** What is absent on purpose, and what to do instead. */
const ABSENT = new Map<string, string>([
  ...['require', 'module', 'exports'].map((name) => [name, ONE_FILE] as const),
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'Deno', 'Bun'].map((name) => [name, BY_AGENT] as const),
  ...['process', '__dirname', '__filename', 'window', 'document', 'localStorage'].map(
    (name) => [name, BY_ARGS] as const,
  ),
  ['Buffer', 'Use `TextEncoder`, `TextDecoder`, `btoa` or `atob`.'],
  ['crypto', 'Random values would differ on a resume: pass them in through args.'],
  ['performance', 'The clock would differ on a resume: pass the time in through args.'],
  ['setInterval', 'Use `setTimeout` in a loop.'],
  ['setImmediate', 'Use `setTimeout(…, 0)` or `queueMicrotask`.'],
  ...['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'ShadowRealm'].map(
    (name) => [name, IN_ORDER] as const,
  ),
]);

/** Uses of names that neither the script nor its surroundings have; `typeof name` is always fine. */
export function checkGlobals({ program, names, report }: CheckContext): void {
  const unknown = new Map<ast.Node, { name: string; isTried: boolean }>();
  const asked = new Set<string>();
  fullAncestor(program, (node, _state, ancestors) => {
    if (node.type === 'UnaryExpression' && node.operator === 'typeof' && node.argument.type === 'Identifier')
      asked.add(node.argument.name);
    if (node.type !== 'Identifier' || PRESENT.has(node.name) || !names.isFree(node)) return;
    const isTried = ancestors.some(
      (outer, index) => outer.type === 'TryStatement' && ancestors[index + 1] === outer.block,
    );
    unknown.set(node, { name: node.name, isTried });
  });
  const meant = new Map<string, string | undefined>();
  for (const [node, { name, isTried }] of unknown) {
    if (asked.has(name)) continue;
    const instead = ABSENT.get(name);
    if (instead !== undefined) {
      report(node, {
        code: 'WF_CHECK_ABSENT',
        severity: isTried ? 'warning' : 'error',
        message: `\`${name}\` is not available in a workflow.`,
        remedy: instead,
      });
      continue;
    }
    if (!meant.has(name)) meant.set(name, nearestWord(name, PRESENT));
    const nearest = meant.get(name);
    report(node, {
      code: 'WF_CHECK_UNDEFINED',
      severity: 'warning',
      message: `\`${name}\` is declared nowhere.`,
      remedy: nearest ? `Did you mean \`${nearest}\`?` : 'Declare it, or correct its name.',
    });
  }
}
