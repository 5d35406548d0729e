/** Reads data that stands literally in a script, from the syntax tree alone. */
import type * as ast from 'acorn';

export interface LiteralProblem {
  at: number;
  message: string;
}

export interface LiteralRules {
  /** Keys that may not occur at any depth. */
  reservedKeys?: ReadonlySet<string>;
  /** Stands in for a variable; without it a variable is a problem. Must come to an end where variables name each other. */
  resolve?: (name: ast.Identifier) => ast.Expression | undefined;
}

/**
 * The value of an expression of literals; each part that is none is put into `problems` and read as `undefined`.
 * Of two equal keys the last counts, as when it runs.
 *
 * @param path how messages name the value, such as `meta`
 */
export function readLiteral(
  node: ast.Expression | ast.SpreadElement | null,
  path: string,
  problems: LiteralProblem[],
  rules: LiteralRules = {},
): unknown {
  switch (node?.type) {
    case 'Literal':
      if (node.regex || node.bigint) break;
      return node.value;
    case 'TemplateLiteral':
      if (node.expressions.length > 0) break;
      return node.quasis[0]?.value.cooked;
    case 'UnaryExpression':
      if (node.operator === '-' && node.argument.type === 'Literal' && typeof node.argument.value === 'number')
        return -node.argument.value;
      break;
    case 'ArrayExpression':
      return node.elements.map((element, index) => {
        if (element !== null) return readLiteral(element, `${path}[${index}]`, problems, rules);
        problems.push({ at: node.start, message: `${path}[${index}] is an empty slot` });
        return undefined;
      });
    case 'ObjectExpression':
      return readObject(node, path, problems, rules);
    case 'Identifier': {
      const stand = rules.resolve?.(node);
      if (stand) return readLiteral(stand, path, problems, rules);
      break;
    }
  }
  if (node) problems.push({ at: node.start, message: `${path} must be a literal value, found ${describeNode(node)}` });
  return undefined;
}

function readObject(
  node: ast.ObjectExpression,
  path: string,
  problems: LiteralProblem[],
  rules: LiteralRules,
): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const member of node.properties) {
    if (member.type === 'SpreadElement' || member.computed || member.method || member.kind !== 'init') {
      problems.push({
        at: member.start,
        message: `${path} may only hold \`key: value\`, found ${describeNode(member)}`,
      });
      continue;
    }
    const key = keyOf(member);
    if (rules.reservedKeys?.has(key)) {
      problems.push({ at: member.key.start, message: `${path} may not have the reserved key \`${key}\`` });
      continue;
    }
    const child = readLiteral(member.value, `${path}.${key}`, problems, rules);
    Object.defineProperty(value, key, { value: child, writable: true, enumerable: true, configurable: true });
  }
  return value;
}

/** The key of a member that is not computed. */
export const keyOf = (member: ast.Property): string =>
  member.key.type === 'Identifier' ? member.key.name : String((member.key as ast.Literal).value);

const WORDS: Record<string, string> = {
  CallExpression: 'a call',
  NewExpression: 'a `new` expression',
  TemplateLiteral: 'a template with ${…}',
  TaggedTemplateExpression: 'a tagged template',
  SpreadElement: 'a spread (`...`)',
  BinaryExpression: 'an operation',
  LogicalExpression: 'an operation',
  ConditionalExpression: 'a condition',
  UnaryExpression: 'an operation',
  MemberExpression: 'a property access',
  FunctionExpression: 'a function',
  ArrowFunctionExpression: 'a function',
  ClassExpression: 'a class',
  AwaitExpression: 'an `await`',
  ArrayExpression: 'an array',
  ObjectExpression: 'an object',
};

/** Says in a few words what kind of expression stands there. */
export function describeNode(node: ast.AnyNode): string {
  if (node.type === 'Identifier') return `the variable \`${node.name}\``;
  if (node.type === 'Literal') {
    if (node.regex) return 'a regular expression';
    if (node.bigint) return 'a BigInt';
    if (typeof node.value === 'string') return `the text ${JSON.stringify(shorten(node.value))}`;
    return node.value === null ? 'null' : `the ${typeof node.value} ${node.raw}`;
  }
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return 'a text';
  if (node.type === 'Property') {
    if (node.computed) return 'a computed key';
    return node.kind === 'init' ? 'a method' : `a ${node.kind === 'get' ? 'getter' : 'setter'}`;
  }
  return WORDS[node.type] ?? 'an expression';
}

const shorten = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);
