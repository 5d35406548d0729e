/** Removes what could observe collection or threads, escape the memory limit, or make code from text. */
import { construct, defineProperty, G, getPrototypeOf, lock, PTypeError } from './primordials.js';

const REMOVED = ['WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'ShadowRealm', 'gc'];
for (let i = 0; i < REMOVED.length; i++) delete G[REMOVED[i] as string];

// Growable buffers are not counted by the isolate's memory limit.
const RealBuffer = ArrayBuffer;
const SafeBuffer = function (length: number, options?: unknown) {
  if (options !== undefined) throw new PTypeError('Resizable buffers are not available in a workflow.');
  return construct(RealBuffer, [length], new.target as unknown as new () => unknown);
} as unknown as ArrayBufferConstructor;
defineProperty(SafeBuffer, 'name', { value: 'ArrayBuffer', configurable: true });
lock(SafeBuffer, 'isView', RealBuffer.isView);
lock(SafeBuffer, 'prototype', RealBuffer.prototype);
lock(RealBuffer.prototype, 'constructor', SafeBuffer);
lock(G, 'ArrayBuffer', SafeBuffer);
const bufferMethods = RealBuffer.prototype as unknown as Record<string, unknown>;
delete bufferMethods.transfer;
delete bufferMethods.transferToFixedLength;
delete bufferMethods.resize;

const PEvalError = EvalError;
function noCodeFromText(): never {
  throw new PEvalError('Code generation from strings is not available in a workflow.');
}
const functionPrototypes = [
  Function.prototype,
  getPrototypeOf(async () => {}),
  getPrototypeOf(function* () {}),
  getPrototypeOf(async function* () {}),
];
for (let i = 0; i < functionPrototypes.length; i++) {
  const prototype = functionPrototypes[i] as object;
  const refuse = function Function() {
    noCodeFromText();
  };
  // `instanceof Function` goes on working.
  defineProperty(refuse, 'prototype', { value: prototype });
  lock(prototype, 'constructor', refuse);
  if (i === 0) lock(G, 'Function', refuse);
}
lock(G, 'eval', noCodeFromText);
// A promise that resolves with the global object must not find a thenable there.
lock(G, 'then', undefined);
