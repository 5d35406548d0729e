/** Where two JSON values differ, by path. */

/** One place. A side without a value there is absent. */
export interface Difference {
  /** `result.files[2].name` */
  path: string;
  expected?: unknown;
  received?: unknown;
  /** What else is known of it. */
  note?: string;
}

/**
 * @param path of both values
 * @returns the places in the order of the expected value, then what it does not have; empty for equal values
 *
 * @example diffJson({ a: 1 }, { a: 2 }, 'result') // [{ path: 'result.a', expected: 1, received: 2 }]
 */
export function diffJson(expected: unknown, received: unknown, path: string): Difference[] {
  if (expected === received) return [];
  const isList = Array.isArray(expected);
  if (!isHolder(expected) || !isHolder(received) || isList !== Array.isArray(received))
    return [{ path, expected, received }];
  return [...new Set([...Object.keys(expected), ...Object.keys(received)])].flatMap((name) => {
    const place = isList ? `${path}[${name}]` : joinPath(path, name);
    if (!Object.hasOwn(received, name)) return [{ path: place, expected: expected[name] }];
    if (!Object.hasOwn(expected, name)) return [{ path: place, received: received[name] }];
    return diffJson(expected[name], received[name], place);
  });
}

const isHolder = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export const joinPath = (path: string, name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
