import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from '../find-refused-forms.js';
import { type CheckContext, startedBy, startsWork } from './context.js';

/** Work that is started and whose end nobody waits for: it is cancelled when the body returns. */
export function checkAwaits({ program, names, report }: CheckContext): void {
  full(program, (node) => {
    if (node.type !== 'ExpressionStatement') return;
    const { expression } = node;
    const started = startedBy(expression, names);
    if (started) {
      if (handsOver(expression)) return;
      report(expression, {
        code: 'WF_CHECK_UNAWAITED',
        severity: 'warning',
        message: `Nobody waits for this ${started}(): it is cancelled when the workflow returns, and its error is lost.`,
        remedy: 'Write `await` before it, or keep the promise and await it later.',
      });
    } else if (isAsyncForEach(expression) && startsWork(expression, names)) {
      report(expression, {
        code: 'WF_CHECK_UNAWAITED',
        severity: 'warning',
        message: '`forEach` does not wait for an async function: the work goes on, unseen, behind it.',
        remedy: 'Use `await parallel(items.map((item) => () => …))` or a `for` loop.',
      });
    }
  });
}

/** `agent(…).then(resolve)`: whoever waits for what `resolve` settles waits for the agent. */
function handsOver(node: ast.Expression | ast.Super): boolean {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const isThen = memberName(node.callee) === 'then' && node.arguments[0]?.type === 'Identifier';
  return isThen || handsOver(node.callee.object);
}

function isAsyncForEach(node: ast.Expression): node is ast.CallExpression {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const [callback] = node.arguments;
  return memberName(node.callee) === 'forEach' && callback !== undefined && 'async' in callback && callback.async;
}
