/** Whether the end of started work is handed to something that the script waits for in another way. */
import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from '../find-refused-forms.js';
import { type CheckContext, functionNamed, isFunction } from './context.js';

type Script = Pick<CheckContext, 'program' | 'names'>;

/** Functions that call each other are followed so far. */
const MAX_DEPTH = 4;

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
  if (handler.type === 'MemberExpression')
    return handler.object.type === 'Identifier' && !script.names.isFree(handler.object);
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
    const { callee } = node;
    const isSettler = callee.type === 'MemberExpression' && ['resolve', 'reject'].includes(memberName(callee) ?? '');
    if (callee.type === 'Identifier' || isSettler) found = maySettle(callee, script, depth);
  });
  return found;
}
