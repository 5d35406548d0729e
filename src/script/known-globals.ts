/** The global names of a workflow: what is there, and what is absent on purpose. */
import { LAZY_GLOBALS } from './lazy-globals.js';

/** What a script may expect to find besides its own names. */
export const PRESENT_GLOBALS: ReadonlySet<string> = new Set(
  [
    'agent parallel pipeline phase log workflow budget args',
    'console setTimeout clearTimeout globalThis undefined NaN Infinity eval arguments',
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
export const ABSENT_GLOBALS: ReadonlyMap<string, string> = new Map<string, string>([
  ...['require', 'module', 'exports'].map((name) => [name, ONE_FILE] as const),
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'Deno', 'Bun'].map((name) => [name, BY_AGENT] as const),
  ...['process', '__dirname', '__filename', 'window', 'document', 'localStorage'].map(
    (name) => [name, BY_ARGS] as const,
  ),
  ...['fs', 'os', 'child_process'].map((name) => [name, BY_AGENT] as const),
  ['path', 'Join texts with `/`: a workflow has no file system, agents do.'],
  ...['global', 'self'].map((name) => [name, 'Write `globalThis`.'] as const),
  ['sleep', 'Write `const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))`.'],
  ['Buffer', 'Use `TextEncoder`, `TextDecoder`, `btoa` or `atob`.'],
  ['crypto', 'Random values would differ on a resume: pass them in through args.'],
  ['performance', 'The clock would differ on a resume: pass the time in through args.'],
  ['setInterval', 'Use `setTimeout` in a loop.'],
  ['setImmediate', 'Use `setTimeout(…, 0)`.'],
  ['queueMicrotask', 'Use `Promise.resolve().then(…)`.'],
  ...['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'ShadowRealm'].map(
    (name) => [name, IN_ORDER] as const,
  ),
]);
