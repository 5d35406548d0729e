/** Which names of a script are bound by itself, and which come from outside. */
import type * as ast from 'acorn';
import { base, type RecursiveVisitors, recursive } from 'acorn-walk';

export interface ResolvedNames {
  /** Uses of names that nothing in the script declares, by name, in source order. */
  free: ReadonlyMap<string, readonly ast.Identifier[]>;
  /** True when the node is a use of a name that the script does not declare. */
  isFree(node: ast.Node): boolean;
  /** The expression that a `const` of this name was made with, where that is plain to see. */
  constantOf(node: ast.Identifier): ast.Expression | undefined;
}

interface Scope {
  parent: Scope | undefined;
  /** Takes `var`. */
  isFunction: boolean;
  bindings: Map<string, ast.Expression | undefined>;
}

type Walk = (node: ast.Node, scope: Scope, as?: string) => void;

export function resolveNames(program: ast.Program): ResolvedNames {
  const uses: { node: ast.Identifier; scope: Scope }[] = [];
  const use = (node: ast.Identifier, scope: Scope) => void uses.push({ node, scope });
  const block = (node: ast.AnyNode, scope: Scope, walk: Walk) =>
    (base as unknown as Record<string, (node: ast.Node, scope: Scope, walk: Walk) => void>)[node.type]?.(
      node,
      openScope(scope),
      walk,
    );
  // A name that is declared is also visited as a pattern; it then resolves to its own declaration.
  const visitors = {
    Identifier: use,
    VariablePattern: use,
    VariableDeclaration(node: ast.VariableDeclaration, scope: Scope, walk: Walk) {
      const home = node.kind === 'var' ? functionScope(scope) : scope;
      for (const { id, init } of node.declarations) {
        const constant = node.kind === 'const' && id.type === 'Identifier' ? (init ?? undefined) : undefined;
        for (const name of namesIn(id)) home.bindings.set(name, constant);
      }
      for (const declarator of node.declarations) walk(declarator, scope);
    },
    Function(node: ast.FunctionDeclaration | ast.FunctionExpression, scope: Scope, walk: Walk) {
      if (node.type === 'FunctionDeclaration' && node.id) scope.bindings.set(node.id.name, undefined);
      const inner = openScope(scope, true);
      if (node.type === 'FunctionExpression' && node.id) inner.bindings.set(node.id.name, undefined);
      if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression')
        inner.bindings.set('arguments', undefined);
      for (const param of node.params) {
        for (const name of namesIn(param)) inner.bindings.set(name, undefined);
        walk(param, inner, 'Pattern');
      }
      walk(node.body, inner, node.expression ? 'Expression' : 'Statement');
    },
    Class(node: ast.ClassDeclaration | ast.ClassExpression, scope: Scope, walk: Walk) {
      if (node.type === 'ClassDeclaration' && node.id) scope.bindings.set(node.id.name, undefined);
      const inner = openScope(scope);
      if (node.id) inner.bindings.set(node.id.name, undefined);
      if (node.superClass) walk(node.superClass, inner, 'Expression');
      walk(node.body, inner);
    },
    StaticBlock(node: ast.StaticBlock, scope: Scope, walk: Walk) {
      const inner = openScope(scope, true);
      for (const statement of node.body) walk(statement, inner, 'Statement');
    },
    BlockStatement: block,
    ForStatement: block,
    ForInStatement: block,
    ForOfStatement: block,
    SwitchStatement: block,
    CatchClause(node: ast.CatchClause, scope: Scope, walk: Walk) {
      const inner = openScope(scope);
      for (const name of node.param ? namesIn(node.param) : []) inner.bindings.set(name, undefined);
      if (node.param) walk(node.param, inner, 'Pattern');
      walk(node.body, inner, 'Statement');
    },
    ImportDeclaration(node: ast.ImportDeclaration, scope: Scope) {
      for (const { local } of node.specifiers) scope.bindings.set(local.name, undefined);
    },
  };
  recursive(program, openScope(undefined, true), visitors as unknown as RecursiveVisitors<Scope>);

  const free = new Map<string, ast.Identifier[]>();
  const bound = new Map<ast.Node, Scope>();
  for (const { node, scope } of uses) {
    const home = findBinding(scope, node.name);
    if (home) bound.set(node, home);
    else if (free.has(node.name)) free.get(node.name)?.push(node);
    else free.set(node.name, [node]);
  }
  const freeNodes = new Set<ast.Node>([...free.values()].flat());
  for (const nodes of free.values()) nodes.sort((a, b) => a.start - b.start);
  return {
    free,
    isFree: (node) => freeNodes.has(node),
    constantOf: (node) => bound.get(node)?.bindings.get(node.name),
  };
}

const openScope = (parent: Scope | undefined, isFunction = false): Scope => ({
  parent,
  isFunction,
  bindings: new Map(),
});

function functionScope(scope: Scope): Scope {
  let at = scope;
  while (!at.isFunction && at.parent) at = at.parent;
  return at;
}

function findBinding(scope: Scope, name: string): Scope | undefined {
  let at: Scope | undefined = scope;
  while (at && !at.bindings.has(name)) at = at.parent;
  return at;
}

/** The names that a declaration's pattern binds. */
function namesIn(pattern: ast.Pattern): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((part) => namesIn(part.type === 'Property' ? part.value : part.argument));
    case 'ArrayPattern':
      return pattern.elements.flatMap((part) => (part ? namesIn(part) : []));
    case 'RestElement':
      return namesIn(pattern.argument);
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    default:
      return [];
  }
}
