/** Runs the script's function and turns what it returns into JSON text, once. */
import { errorText } from './errors.js';
import { hostCall } from './host.js';
import {
  defineProperty,
  getPrototypeOf,
  isArray,
  MapPrototype,
  PError,
  PString,
  SafeMap,
  SetPrototype,
  stringify,
  textStartsWith,
} from './primordials.js';

class NotJson {
  readonly path: string;
  readonly type: string;
  constructor(path: string, type: string) {
    this.path = path;
    this.type = type;
  }
}

/** JSON's own rules for what JSON has a rule for (`undefined`, NaN, dates); everything else is refused with its path. */
export function resultText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const paths = new SafeMap<object, string>();
  const text = stringify(value, function (this: object, name: string, member: unknown) {
    const parent = paths.get(this);
    const path = parent === undefined ? 'result' : isArray(this) ? `${parent}[${name}]` : `${parent}.${name}`;
    switch (typeof member) {
      case 'bigint':
      case 'function':
      case 'symbol':
        throw new NotJson(path, typeof member);
      case 'object': {
        if (member === null) return member;
        const prototype = getPrototypeOf(member);
        if (prototype === MapPrototype || prototype === SetPrototype)
          throw new NotJson(path, prototype === MapPrototype ? 'Map' : 'Set');
        paths.set(member, path);
      }
    }
    return member;
  });
  return text;
}

export async function run(main: () => Promise<unknown>): Promise<void> {
  let value: unknown;
  try {
    value = await main();
  } catch (error) {
    hostCall(0, 'fail', errorText(error));
    return;
  }
  let text: string | undefined;
  try {
    text = resultText(value);
  } catch (error) {
    if (error instanceof NotJson) hostCall(0, 'not-json', error.path, error.type);
    else if (isCycle(error)) hostCall(0, 'not-json', 'result', 'cycle');
    else hostCall(0, 'fail', errorText(error));
    return;
  }
  if (text === undefined) hostCall(0, 'done', '', 'none');
  else hostCall(0, 'done', text, 'json');
}

/** V8 has no code for this error; its text begins the same in all versions seen. */
function isCycle(error: unknown): boolean {
  try {
    return error instanceof PError && textStartsWith(PString(error.message), 'Converting circular structure');
  } catch {
    return false;
  }
}

defineProperty(NotJson, 'name', { value: 'NotJson' });
