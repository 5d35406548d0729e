/** Leaves the engine's own frames out of every stack that a script can read: they would change with each version of it. */
import { apply, defineProperty, ErrorPrototype, getPrototypeOf, PError } from './primordials.js';

type Prepare = (error: unknown, frames: object[]) => unknown;
const V8Error = PError as ErrorConstructor & { prepareStackTrace?: Prepare };

// The frames' own class has no name: it is only to be had from a frame.
V8Error.prepareStackTrace = (_error, frames) => frames[0];
const frame = new PError().stack as unknown as object;
const methods = getPrototypeOf(frame) as { getFileName(): string | undefined; toString(): string };
const { getFileName, toString: textOfFrame } = methods;
const { toString: headOfError } = ErrorPrototype;

const prepare: Prepare = (error, frames) => {
  let text: string;
  try {
    text = apply(headOfError, error, []);
  } catch {
    text = 'Error';
  }
  for (let i = 0; i < frames.length; i++) {
    const at = frames[i] as object;
    if (apply(getFileName, at, []) !== 'engine:prelude') text += `\n    at ${apply(textOfFrame, at, [])}`;
  }
  return text;
};

// Like V8's own one it can be replaced; what it gives is then the script's own.
defineProperty(V8Error, 'prepareStackTrace', { value: prepare, writable: true, enumerable: false, configurable: true });
