import type * as ast from 'acorn';
import { base, recursive } from 'acorn-walk';
import { memberName } from '../find-refused-forms.js';
import { type CheckContext, functionNamed, isFunction, startsWork } from './context.js';

/**
 * `main()` at the end of a script, as programs elsewhere begin: nothing waits for it, so the workflow returns while its
 * first agent is still queued. Only where nothing behind it waits; work that is started and awaited in another way is fine.
 */
export function checkLastStart(context: CheckContext): void {
  const { program, names, report } = context;
  for (const [index, statement] of program.body.entries()) {
    if (statement.type !== 'ExpressionStatement') continue;
    const call = withoutHandlers(statement.expression);
    const started = call && functionOf(call, context);
    if (!started?.async || waits(program.body.slice(index + 1))) continue;
    // What it calls may be what asks agents.
    if (!startsWork(started, names) && !waits([started.body])) continue;
    const name = call?.callee.type === 'Identifier' ? `${call.callee.name}()` : 'this function';
    report(statement.expression, {
      code: 'WF_CHECK_UNAWAITED',
      severity: 'warning',
      message: `Nobody waits for ${name}: the script returns right behind it, and the agents that it started are ended.`,
      remedy: 'Write `return await` before it.',
    });
  }
}

/** The call in front of `.then(…)`, `.catch(…)` and `.finally(…)`. */
function withoutHandlers(node: ast.Expression | ast.Super): ast.CallExpression | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const { callee } = node;
  if (callee.type !== 'MemberExpression') return node;
  return ['then', 'catch', 'finally'].includes(memberName(callee) ?? '') ? withoutHandlers(callee.object) : undefined;
}

function functionOf({ callee }: ast.CallExpression, context: CheckContext): ast.Function | undefined {
  if (callee.type === 'Identifier') return functionNamed(callee, context);
  return isFunction(callee) ? callee : undefined;
}

/** Values that are no promise, whatever they hold. */
const PLAIN: readonly string[] = ['Literal', 'TemplateLiteral', 'ObjectExpression', 'ArrayExpression'];

/** Whether statements of the body wait for anything. */
function waits(statements: readonly ast.AnyNode[]): boolean {
  let found = false;
  const see = () => {
    found = true;
  };
  for (const statement of statements) {
    recursive(statement as ast.Node, undefined, {
      Function() {},
      AwaitExpression: see,
      ForOfStatement(node: ast.ForOfStatement, state, walk) {
        if (node.await) see();
        base.ForOfStatement?.(node, state, walk);
      },
      ReturnStatement(node: ast.ReturnStatement, state, walk) {
        if (node.argument && !PLAIN.includes(node.argument.type)) see();
        base.ReturnStatement?.(node, state, walk);
      },
    });
  }
  return found;
}
