import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from './find-refused-forms.js';
import type { ResolvedNames } from './resolve-names.js';

/** Globals that cost time to set up, so an isolate gets them only where a script may use one. */
export const LAZY_GLOBALS = [
  'URL',
  'URLSearchParams',
  'structuredClone',
  'TextEncoder',
  'TextDecoder',
  'atob',
  'btoa',
  'AbortController',
  'AbortSignal',
] as const;

/** The lazy globals that a script may use. Where names are made up at run time, it may use all. */
export function findLazyGlobals(program: ast.Program, names: ResolvedNames): Set<string> {
  const found = new Set<string>(LAZY_GLOBALS.filter((name) => names.free.has(name)));
  const all = () => LAZY_GLOBALS.forEach((name) => void found.add(name));
  if (names.free.has('eval') || names.free.has('Function')) all();
  const whole = new Set<ast.Node>(names.free.get('globalThis') ?? []);
  if (whole.size === 0) return found;
  full(program, (node) => {
    if (node.type !== 'MemberExpression' || !whole.has(node.object)) return;
    const name = memberName(node);
    if (name === undefined) return;
    whole.delete(node.object);
    if ((LAZY_GLOBALS as readonly string[]).includes(name)) found.add(name);
  });
  // `globalThis[x]`, or the object itself handed on.
  if (whole.size > 0) all();
  return found;
}
