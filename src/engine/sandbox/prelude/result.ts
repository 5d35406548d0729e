/** Runs the script's function and turns what it returns into JSON text, once. */
import { errorText } from './errors.js';
import { config, hostCall } from './host.js';
import { emptiedByJson } from './json-value.js';
import { descendsFrom, ErrorPrototype, isArray, SafeMap, stringify } from './primordials.js';

class NotJson {
  readonly path: string;
  readonly what: string;
  constructor(path: string, what: string) {
    this.path = path;
    this.what = what;
  }
}

/** The objects that hold the member at hand, from the outside in; without prototype, so that no setter is called. */
interface Holders {
  [depth: number]: { value: object; name: string; isIndex: boolean };
}

/** JSON's own rules for what JSON has a rule for (`undefined`, NaN, dates); everything else is refused with its path. */
function resultText(value: unknown): string | undefined {
  const holders = { __proto__: null } as unknown as Holders;
  const open = new SafeMap<object, true>();
  let depth = 0;
  const pathTo = (name: string, isIndex: boolean): string => {
    let path = 'result';
    for (let i = 1; i < depth; i++) path += step((holders[i] as Holders[0]).name, (holders[i] as Holders[0]).isIndex);
    return depth === 0 ? path : path + step(name, isIndex);
  };
  return stringify(value, function (this: object, name: string, member: unknown) {
    while (depth > 0 && (holders[depth - 1] as Holders[0]).value !== this) {
      depth--;
      open.delete((holders[depth] as Holders[0]).value);
    }
    const isIndex = isArray(this);
    if (typeof member === 'bigint' || typeof member === 'function' || typeof member === 'symbol')
      throw new NotJson(pathTo(name, isIndex), `a ${typeof member}`);
    if (typeof member !== 'object' || member === null) return member;
    const emptied = emptiedByJson(member);
    if (emptied !== undefined) throw new NotJson(pathTo(name, isIndex), emptied);
    if (open.has(member)) throw new NotJson(pathTo(name, isIndex), 'an object that contains itself');
    if (descendsFrom(member, ErrorPrototype)) tellOfError(pathTo(name, isIndex));
    open.set(member, true);
    holders[depth++] = { __proto__: null, value: member, name, isIndex } as Holders[0];
    return member;
  });
}

const step = (name: string, isIndex: boolean): string => (isIndex ? `[${name}]` : `.${name}`);

/** No reason to lose the whole result, but what JSON makes of an error is next to nothing. */
function tellOfError(path: string): void {
  hostCall(
    0,
    'log',
    `${config.logPrefix}${path} is an error, of which JSON keeps no message: return error.message`,
    'warn',
  );
}

const RangeErrorPrototype = RangeError.prototype;

/** The stack ran out: the JSON writer's own, or that of a getter in the result. A RangeError may say other things too, as of a date. */
function isTooDeep(error: unknown): boolean {
  try {
    if (typeof error !== 'object' || error === null || !descendsFrom(error, RangeErrorPrototype)) return false;
    return (error as Error).message === 'Maximum call stack size exceeded';
  } catch {
    return false;
  }
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
    if (error instanceof NotJson) hostCall(0, 'not-json', error.path, error.what);
    else if (isTooDeep(error)) hostCall(0, 'not-json', 'result', 'nested too deeply');
    else hostCall(0, 'fail', errorText(error));
    return;
  }
  if (text === undefined) hostCall(0, 'done', '', 'none');
  else hostCall(0, 'done', text, 'json');
}
