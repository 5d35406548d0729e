/** `args` is the script's own value in a writable binding, made inside from JSON text. */
import { argsText } from './host.js';
import { defineProperty, G, parse } from './primordials.js';

defineProperty(G, 'args', {
  value: argsText === undefined ? undefined : parse(argsText),
  writable: true,
  enumerable: true,
  configurable: true,
});
