/**
 * Text of any value for `log()` and `console`. As JSON where JSON says what is there; what it would empty, refuse or make
 * `null` of is shown all the same, since whoever looks at the log looks for just that.
 */
import { emptiedByJson } from './json-value.js';
import { apply, descendsFrom, ErrorPrototype, lock, PArray, PString, SafeMap, stringify } from './primordials.js';

const eachOfMap = Map.prototype.forEach;
const eachOfSet = Set.prototype.forEach;

export function show(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return `${value}n`;
  try {
    // A function may have a `toString` of its own.
    if (typeof value !== 'object' || value === null) return PString(value);
    if (descendsFrom(value, ErrorPrototype)) return PString((value as Error).stack);
    return stringify(value, wording()) ?? PString(value);
  } catch {
    return '(a value that cannot be shown)';
  }
}

/** A replacer that keeps what JSON has no form for, as a text or a list. */
function wording(): (this: object, name: string, member: unknown) => unknown {
  /** From the outside in: what is being shown, and what stands for it. Without prototype, so that no setter is called. */
  const open = { __proto__: null } as unknown as Record<number, { value: object; shown: object }>;
  const isOpen = new SafeMap<object, true>();
  let depth = 0;
  return function (this: object, _name: string, member: unknown) {
    while (depth > 0 && open[depth - 1]?.shown !== this) isOpen.delete((open[--depth] as { value: object }).value);
    if (typeof member === 'bigint') return `${member}n`;
    // Infinity is what `budget.remaining()` says without a budget.
    if (typeof member === 'number') return member - member === 0 ? member : PString(member);
    if (typeof member !== 'object' || member === null) return member;
    if (isOpen.has(member)) return '(contains itself)';
    if (descendsFrom(member, ErrorPrototype)) return `${(member as Error).name}: ${(member as Error).message}`;
    const emptied = emptiedByJson(member);
    const shown = emptied === undefined ? member : (entriesOf(member) ?? `(${emptied})`);
    if (typeof shown === 'string') return shown;
    isOpen.set(member, true);
    open[depth++] = { value: member, shown };
    return shown;
  };
}

/** What a Map or a Set holds; undefined for anything else. */
function entriesOf(value: object): unknown[] | undefined {
  const list = new PArray();
  try {
    apply(eachOfMap, value as Map<unknown, unknown>, [
      (item: unknown, key: unknown) => {
        const pair = new PArray(2);
        lock(pair, '0', key, true);
        lock(pair, '1', item, true);
        lock(list, `${list.length}`, pair, true);
      },
    ]);
    return list;
  } catch {
    // No Map.
  }
  try {
    apply(eachOfSet, value as Set<unknown>, [(item: unknown) => lock(list, `${list.length}`, item, true)]);
    return list;
  } catch {
    return undefined;
  }
}
