/** Whether the end of started work is handed to something that the script waits for in another way. */
import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from '../find-refused-forms.js';
import { type CheckContext, functionNamed, isFunction } from './context.js';

type Script = Pick<CheckContext, 'program' | 'names'>;

/** Functions that call each other are followed so far. */
const MAX_DEPTH = 4;

/** `seen.push(x)` keeps an answer and wakes nobody, whoever made `seen`. */
const METHODS_OF_VALUES = new Set(
  [Array, String, Number, Map, Set, Date, RegExp, Promise, Object].flatMap(({ prototype }) =>
    Object.getOwnPropertyNames(prototype),
  ),
);

/** `resolve.call(…)` and the like do what `resolve` does. */
const METHODS_OF_FUNCTIONS: readonly string[] = ['call', 'apply', 'bind'];

/**
 * `agent(…).then(resolve)`: whoever waits for what `resolve` settles waits for the agent. `.then(log)` hands it to nobody:
 * no function from outside the script settles anything in it.
 */
export function handsOver(node: ast.Expression | ast.Super, script: Script): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const isChain = ['then', 'catch', 'finally'].includes(memberName(node.callee) ?? '');
  return (
    (isChain && node.arguments.some((handler) => maySettle(handler, script))) || handsOver(node.callee.object, script)
  );
}

/** Whether a handler is, or calls, a function that the script was given or has from elsewhere, as that of a promise. */
function maySettle(handler: ast.AnyNode, script: Script, depth = 0): boolean {
  if (depth > MAX_DEPTH) return true;
  if (handler.type === 'ChainExpression') return maySettle(handler.expression, script, depth);
  // What makes a handler out of a function, as `bind` does, settles what that one settles.
  if (handler.type === 'CallExpression') return maySettle(handler.callee, script, depth);
  if (handler.type === 'MemberExpression') {
    const name = memberName(handler);
    if (name !== undefined && METHODS_OF_FUNCTIONS.includes(name)) return maySettle(handler.object, script, depth);
    return isOwn(handler.object, script) && !(name !== undefined && METHODS_OF_VALUES.has(name));
  }
  if (handler.type === 'Identifier') {
    const known = functionNamed(handler, script);
    return known === undefined ? !script.names.isFree(handler) : callsOne(known.body, script, depth + 1);
  }
  return isFunction(handler) && callsOne(handler.body, script, depth + 1);
}

function callsOne(body: ast.Node, script: Script, depth: number): boolean {
  let found = false;
  full(body, (node) => {
    if (found || node.type !== 'CallExpression') return;
    found = isTakenOut(node.callee, script) || maySettle(node.callee, script, depth);
  });
  return found;
}

/** `waiting.shift()(x)`: a function that the script had put away, by whatever method it comes out again. */
const isTakenOut = (callee: ast.AnyNode, script: Script): boolean =>
  callee.type === 'CallExpression' && callee.callee.type === 'MemberExpression' && isOwn(callee.callee.object, script);

/** Whether an object, or what it was reached through, is the script's own. */
function isOwn(object: ast.AnyNode, script: Script): boolean {
  if (object.type === 'MemberExpression') return isOwn(object.object, script);
  if (object.type === 'CallExpression') return isOwn(object.callee, script);
  if (object.type === 'ChainExpression') return isOwn(object.expression, script);
  return object.type === 'ThisExpression' || (object.type === 'Identifier' && !script.names.isFree(object));
}
