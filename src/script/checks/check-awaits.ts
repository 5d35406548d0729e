import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from '../find-refused-forms.js';
import { type CheckContext, startedBy, startsWork } from './context.js';
import { handsOver } from './hands-over.js';

/** Work that is started and whose end nobody waits for: it is cancelled when the body returns. */
export function checkAwaits(context: CheckContext): void {
  const { program, names, report } = context;
  const isLoose = (node: ast.Expression): string | undefined => {
    const started = startedBy(node, names);
    return started === undefined || handsOver(node, context) ? undefined : started;
  };
  const kept: { name: string; init: ast.Expression; started: string }[] = [];
  const timesNamed = new Map<string, number>();
  full(program, (node) => {
    if (node.type === 'Identifier') timesNamed.set(node.name, (timesNamed.get(node.name) ?? 0) + 1);
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init) {
      const started = isLoose(node.init);
      if (started) kept.push({ name: node.id.name, init: node.init, started });
    }
    if (node.type !== 'ExpressionStatement') return;
    const { expression } = node;
    const started = isLoose(expression);
    if (started) {
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
  for (const { name, init, started } of kept) {
    if (timesNamed.get(name) !== 1) continue;
    report(init, {
      code: 'WF_CHECK_UNAWAITED',
      severity: 'warning',
      message: `Nobody waits for this ${started}(): \`${name}\` is not used, and it is cancelled when the workflow returns.`,
      remedy: `Write \`await\` before it, or await \`${name}\` later.`,
    });
  }
}

function isAsyncForEach(node: ast.Expression): node is ast.CallExpression {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const [callback] = node.arguments;
  return memberName(node.callee) === 'forEach' && callback !== undefined && 'async' in callback && callback.async;
}
