import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from '../find-refused-forms.js';
import { describeNode } from '../read-literal.js';
import { type CheckContext, calledName, resolveConstant, startedBy } from './context.js';

const WRAP = 'Wrap it in a function that starts it: `() => agent(…)`.';

/** What is plainly no array, no function, or already started, in `parallel()` and `pipeline()`. */
export function checkFanOuts(context: CheckContext): void {
  const { program, names, report } = context;
  full(program, (node) => {
    const name = calledName(node, names);
    if (node.type !== 'CallExpression' || (name !== 'parallel' && name !== 'pipeline')) return;
    const [first, ...rest] = node.arguments;
    if (first?.type === 'SpreadElement') return;
    const wanted = name === 'parallel' ? 'an array of functions' : 'an array of items';
    const value = first && resolveConstant(first, names);
    const isPlain = value === undefined || isNoArray(value);
    if (isPlain || (name === 'parallel' && startsAlone(value, first, rest, context))) {
      report(first ?? node, {
        code: value && startedBy(value, names) ? 'WF_CHECK_STARTED' : 'WF_CHECK_NOT_ARRAY',
        severity: 'error',
        message: `${name}() takes ${wanted} as its first argument, found ${value ? describeNode(value) : 'nothing'}.`,
        remedy:
          name === 'parallel'
            ? 'Write `parallel([() => agent(…), () => agent(…)])`.'
            : 'Write `pipeline([…], (item) => agent(…))`.',
      });
    } else if (name === 'parallel') checkThunks(value, first ?? node, context);
    if (name === 'pipeline') for (const stage of rest) checkFunction(stage, 'A stage of pipeline()', context);
  });
}

/** `parallel(agent(…), agent(…))`: each argument is work of its own. */
function startsAlone(
  value: ast.AnyNode,
  first: ast.Node | undefined,
  rest: readonly ast.Node[],
  { names }: CheckContext,
): boolean {
  const name = value === first ? startedBy(value, names) : undefined;
  return name === 'agent' || name === 'agent.settled' || (name !== undefined && rest.length > 0);
}

function checkThunks(value: ast.AnyNode, at: ast.Node, context: CheckContext): void {
  if (value.type === 'ArrayExpression') {
    for (const element of value.elements) {
      if (element === null) {
        context.report(value, {
          code: 'WF_CHECK_NOT_FUNCTION',
          severity: 'error',
          message: 'The array for parallel() has an empty slot.',
          remedy: 'Remove the extra comma.',
        });
      } else if (element.type === 'SpreadElement') {
        checkThunks(resolveConstant(element.argument, context.names), element, context);
      } else checkFunction(element, 'An entry of parallel()', context);
    }
    return;
  }
  const callback = callbackOfMap(value);
  if (!callback || !givesPromise(callback, context)) return;
  context.report(at, {
    code: 'WF_CHECK_STARTED',
    severity: 'error',
    message: 'This starts the work at once and gives parallel() promises instead of functions.',
    remedy: 'Let the callback give a function: `items.map((item) => () => agent(…))`.',
  });
}

function checkFunction(given: ast.Expression | ast.SpreadElement, what: string, { names, report }: CheckContext): void {
  if (given.type === 'SpreadElement') return;
  const node = resolveConstant(given, names);
  const isStarted = startedBy(node, names) !== undefined || isAsyncCall(node);
  const isAnswer = node.type === 'AwaitExpression' && startedBy(node.argument, names) !== undefined;
  if (!isStarted && !isAnswer && !isNoFunction(node)) return;
  report(given, {
    code: isStarted ? 'WF_CHECK_STARTED' : 'WF_CHECK_NOT_FUNCTION',
    severity: 'error',
    message: isStarted
      ? `${what} must be a function; this work has already been started.`
      : `${what} must be a function, found ${isAnswer ? 'an answer' : describeNode(node)}.`,
    remedy: WRAP,
  });
}

type Callback = ast.ArrowFunctionExpression | ast.FunctionExpression;

function callbackOfMap(node: ast.AnyNode): Callback | undefined {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
  if (!['map', 'flatMap'].includes(memberName(node.callee) ?? '')) return undefined;
  const [callback] = node.arguments;
  return callback?.type === 'ArrowFunctionExpression' || callback?.type === 'FunctionExpression' ? callback : undefined;
}

function givesPromise(callback: Callback, { names }: CheckContext): boolean {
  if (callback.async) return true;
  if (callback.body.type !== 'BlockStatement') return startedBy(callback.body, names) !== undefined;
  return callback.body.body.some(
    (statement) =>
      statement.type === 'ReturnStatement' && statement.argument && startedBy(statement.argument, names) !== undefined,
  );
}

const isAsyncCall = (node: ast.AnyNode): boolean =>
  node.type === 'CallExpression' && 'async' in node.callee && node.callee.async === true;

const NO_FUNCTION = new Set(['Literal', 'TemplateLiteral', 'ObjectExpression', 'ArrayExpression']);
const isNoFunction = (node: ast.AnyNode): boolean => NO_FUNCTION.has(node.type);

const NO_ARRAY = new Set([
  'Literal',
  'TemplateLiteral',
  'ObjectExpression',
  'ArrowFunctionExpression',
  'FunctionExpression',
]);
const isNoArray = (node: ast.AnyNode): boolean => NO_ARRAY.has(node.type);
