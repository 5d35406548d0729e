import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from '../find-refused-forms.js';
import { type CheckContext, resolveConstant, startedBy } from './context.js';

/** Promises that are used as if they were what they will give. */
export function checkPromises(context: CheckContext): void {
  full(context.program, (node) => {
    if (node.type === 'MemberExpression') checkMember(node, context);
    else if (node.type === 'CallExpression') checkPredicate(node, context);
  });
}

const OF_PROMISES: readonly string[] = ['then', 'catch', 'finally', 'constructor'];

/** `parallel(…).filter`, or `r.trim` after `const r = agent(…)`. */
function checkMember(node: ast.MemberExpression, { names, report }: CheckContext): void {
  const { object } = node;
  const member = memberName(node);
  if (object.type === 'Super' || member === undefined || OF_PROMISES.includes(member)) return;
  const started = startedBy(resolveConstant(object, names), names);
  if (started === undefined) return;
  const name = object.type === 'Identifier' ? object.name : `${started}(…)`;
  report(node, {
    code: 'WF_CHECK_UNAWAITED',
    severity: 'warning',
    message: `\`${name}\` is a promise until it is awaited; it has no \`${member}\`.`,
    remedy: `Write \`(await ${name}).${member}\`${object.type === 'Identifier' ? ', or await it where it is made' : ''}.`,
  });
}

/** Methods that look at what their function gives, and do not wait for it. */
const LOOKING: readonly string[] = [
  ...['filter', 'some', 'every', 'find', 'findIndex', 'findLast', 'findLastIndex', 'sort', 'toSorted'],
];

function checkPredicate(node: ast.CallExpression, { report }: CheckContext): void {
  const { callee } = node;
  const method = callee.type === 'MemberExpression' ? memberName(callee) : undefined;
  const [callback] = node.arguments;
  if (method === undefined || !LOOKING.includes(method)) return;
  if (callback === undefined || !('async' in callback) || !callback.async) return;
  const sorts = method === 'sort' || method === 'toSorted';
  report(node, {
    code: 'WF_CHECK_UNAWAITED',
    severity: 'warning',
    message: `\`${method}\` does not wait for an async function: it takes the promise, which ${sorts ? 'is no number' : 'is always true'}.`,
    remedy: 'Ask first, `const answers = await parallel(items.map((item) => () => …))`, and then look at the answers.',
  });
}
