/**
 * Everything that the prelude uses at run time, taken before any script code exists. Rules that keep the script away
 * from the border: strict mode; no spread, destructuring, `for-of` or `.then()` at run time (all of them look at objects
 * that a script may have patched); `await` instead of `.then`; no host object is ever handed out.
 */
export const G = globalThis as unknown as Record<string, unknown>;
export const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, keys, setPrototypeOf } = Object;
export const { apply, construct } = Reflect;
export const { stringify, parse } = JSON;
export const { isArray } = Array;
export const P = Promise;
export const PArray = Array;
const PMap = Map;
const PWeakMap = WeakMap;
export const PError = Error;
export const PTypeError = TypeError;
export const PRangeError = RangeError;
export const PString = String;
export const ErrorPrototype = Error.prototype;
export const DatePrototype = Date.prototype;

const MP = Map.prototype;
const mapGet = MP.get;
const mapSet = MP.set;
const mapDelete = MP.delete;
const mapHas = MP.has;

/** A Map whose methods cannot be patched from outside. */
export class SafeMap<K, V> {
  readonly #map = new PMap<K, V>();
  get(key: K): V | undefined {
    return apply(mapGet, this.#map, [key]);
  }
  set(key: K, value: V): void {
    apply(mapSet, this.#map, [key, value]);
  }
  delete(key: K): boolean {
    return apply(mapDelete, this.#map, [key]);
  }
  has(key: K): boolean {
    return apply(mapHas, this.#map, [key]);
  }
}

const WMP = WeakMap.prototype;
const weakGet = WMP.get;
const weakSet = WMP.set;

/** What is known of an object, for as long as it lives; a script cannot see it. */
export class SafeWeakMap<K extends object, V> {
  readonly #map = new PWeakMap<K, V>();
  get(key: K): V | undefined {
    return apply(weakGet, this.#map, [key]) as V | undefined;
  }
  set(key: K, value: V): void {
    apply(weakSet, this.#map, [key, value]);
  }
}

const SP = String.prototype;
const { slice, startsWith } = SP;
export const textSlice = (text: string, from: number, to?: number): string => apply(slice, text, [from, to]);
export const textStartsWith = (text: string, start: string): boolean => apply(startsWith, text, [start]);

const { isPrototypeOf } = Object.prototype;
/** `instanceof` that a script cannot bend. */
export const descendsFrom = (value: object, prototype: object): boolean => apply(isPrototypeOf, prototype, [value]);

/** Defines a property that a script can neither change nor remove. */
export function lock(target: object, name: string, value: unknown, enumerable = false): void {
  defineProperty(target, name, { value, writable: false, enumerable, configurable: false });
}
