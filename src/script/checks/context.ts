import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import type { WorkflowMeta } from '../checked-script.js';
import type { Finding } from '../finding.js';
import { memberName } from '../find-refused-forms.js';
import { keyOf } from '../read-literal.js';
import type { ResolvedNames } from '../resolve-names.js';

/** What a check of likely mistakes sees of a script. */
export interface CheckContext {
  program: ast.Program;
  names: ResolvedNames;
  meta: WorkflowMeta | undefined;
  /** Agent types that calls may name, where they are known. */
  agentTypes: readonly string[] | undefined;
  /** Names of saved workflows, where they are known. */
  workflows: readonly string[] | undefined;
  report(node: ast.Node, finding: Omit<Finding, 'at'>): void;
}

/** The functions of the dialect that give a promise. */
const STARTERS: readonly string[] = ['agent', 'agent.settled', 'parallel', 'pipeline', 'workflow'];

/** `agent` for `agent(…)`, `agent.settled` for `agent.settled(…)`, and so on, where the name is not the script's own. */
export function calledName(node: ast.AnyNode, names: ResolvedNames): string | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const { callee } = node;
  if (callee.type === 'Identifier') return names.isFree(callee) ? callee.name : undefined;
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return undefined;
  const member = memberName(callee);
  return member !== undefined && names.isFree(callee.object) ? `${callee.object.name}.${member}` : undefined;
}

/** The function whose promise an expression is: of a call such as `agent(…)`, or of one with `.then(…)` behind it. */
export function startedBy(node: ast.AnyNode, names: ResolvedNames): string | undefined {
  if (node.type === 'ParenthesizedExpression' || node.type === 'ChainExpression')
    return startedBy(node.expression, names);
  if (node.type !== 'CallExpression') return undefined;
  const name = calledName(node, names);
  if (name !== undefined && STARTERS.includes(name)) return name;
  const { callee } = node;
  if (callee.type !== 'MemberExpression') return undefined;
  return ['then', 'catch', 'finally'].includes(memberName(callee) ?? '') ? startedBy(callee.object, names) : undefined;
}

/** Whether something within a node calls a function of the dialect that gives a promise. */
export function startsWork(root: ast.Node, names: CheckContext['names']): boolean {
  let found = false;
  full(root, (node) => {
    found ||= startedBy(node, names) !== undefined;
  });
  return found;
}

/** An expression, or what the `const` that it names was made with. */
export function resolveConstant<Node extends ast.AnyNode>(node: Node, names: ResolvedNames): Node | ast.Expression {
  return node.type === 'Identifier' ? (names.constantOf(node) ?? node) : node;
}

export const isFunction = (node: ast.AnyNode): node is ast.ArrowFunctionExpression | ast.FunctionExpression =>
  node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';

/** The function of the script that a name stands for, where that is plain to see. */
export function functionNamed(
  node: ast.Identifier,
  { program, names }: Pick<CheckContext, 'program' | 'names'>,
): ast.Function | undefined {
  if (names.isFree(node)) return undefined;
  const constant = names.constantOf(node);
  if (constant) return isFunction(constant) ? constant : undefined;
  return program.body.find(
    (other): other is ast.FunctionDeclaration => other.type === 'FunctionDeclaration' && other.id.name === node.name,
  );
}

/** The text of a literal, or of a `const` that holds one. */
export function textOf(node: ast.AnyNode, names: ResolvedNames): string | undefined {
  const at = resolveConstant(node, names);
  if (at.type === 'Literal') return typeof at.value === 'string' ? at.value : undefined;
  if (at.type === 'TemplateLiteral' && at.expressions.length === 0) return at.quasis[0]?.value.cooked ?? undefined;
  return undefined;
}

export interface CallOptions {
  members: { key: string; node: ast.Property }[];
  /** False when a spread or a computed key may add members that are not seen here. */
  isComplete: boolean;
}

/** The options of an `agent()` call as far as they stand in the script; `undefined` when they are made elsewhere. */
export function readOptions(call: ast.CallExpression, names: ResolvedNames): CallOptions | undefined {
  const given = call.arguments[1];
  if (call.arguments[0]?.type === 'SpreadElement' || given?.type === 'SpreadElement') return undefined;
  if (given === undefined) return { members: [], isComplete: true };
  const object = resolveConstant(given, names);
  return object.type === 'ObjectExpression' ? readMembers(object, names) : undefined;
}

function readMembers(object: ast.ObjectExpression, names: ResolvedNames, depth = 0): CallOptions {
  const options: CallOptions = { members: [], isComplete: true };
  for (const member of object.properties) {
    if (member.type === 'Property' && !member.computed) {
      options.members.push({ key: keyOf(member), node: member });
      continue;
    }
    const spread = member.type === 'SpreadElement' ? resolveConstant(member.argument, names) : undefined;
    if (spread?.type === 'ObjectExpression' && depth < 5) {
      const inner = readMembers(spread, names, depth + 1);
      options.members.push(...inner.members);
      options.isComplete &&= inner.isComplete;
    } else options.isComplete = false;
  }
  return options;
}
