/** Reads `export const meta = {…}` from the syntax tree: it is data, and nothing of the script runs to get it. */
import type * as ast from 'acorn';
import type { WorkflowMeta } from './checked-script.js';
import type { Finding, Refusal } from './finding.js';
import { describeNode, keyOf, type LiteralProblem, readLiteral } from './read-literal.js';

export interface MetaReading {
  /** Absent when `refusals` tell why. */
  meta: WorkflowMeta | undefined;
  /** Offset of the word `export`. */
  exportAt: number;
  refusals: Refusal[];
  /** Things that are ignored. */
  warnings: Finding[];
}

const RESERVED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const SHAPE = "`export const meta = { name: '…', description: '…' }`";

/** Finds and reads the meta of a whole script. */
export function readMeta(program: ast.Program): MetaReading {
  const refusals: Refusal[] = [];
  const body = program.body.filter((statement) => !isDirective(statement) && statement.type !== 'EmptyStatement');
  const exported = body.find(exportsMeta);
  if (!exported) {
    refusals.push(explainMissing(body));
    return { meta: undefined, exportAt: -1, refusals, warnings: [] };
  }
  // Imports and other exports are refused as such; without them meta would be first.
  const before = body.slice(0, body.indexOf(exported)).find((statement) => !isModuleForm(statement));
  if (before) {
    refusals.push(
      fault(
        before.start,
        '`export const meta` must be the first statement; this one stands before it.',
        'Move it below meta.',
      ),
    );
  }
  const { kind, declarations } = exported.declaration;
  const declarator = declarations.find(declaresMeta) as ast.VariableDeclarator;
  if (kind !== 'const')
    refusals.push(
      fault(exported.start, `meta must be exported as a \`const\`, not as \`${kind}\`.`, `Write ${SHAPE}.`),
    );
  if (declarations.length > 1) {
    const other = declarations.find((one) => one !== declarator) as ast.VariableDeclarator;
    refusals.push(
      fault(other.start, 'The statement that exports meta may declare nothing else.', 'Declare it below meta.'),
    );
  }
  if (declarator.init?.type !== 'ObjectExpression') {
    const { init } = declarator;
    const literal = init && literalBefore(init);
    if (literal) {
      // Without a semicolon the next line is called, indexed or tagged.
      refusals.push(
        fault(
          literal.end,
          'meta does not end with its `}`: what follows is read as part of the same statement.',
          'End it with a semicolon: `};`.',
        ),
      );
      return { meta: undefined, exportAt: exported.start, refusals, warnings: [] };
    }
    const found = init ? `, found ${describeNode(init)}` : '';
    refusals.push(fault((init ?? declarator).start, `meta must be an object literal${found}.`, `Write ${SHAPE}.`));
    return { meta: undefined, exportAt: exported.start, refusals, warnings: [] };
  }
  const reading = readMetaObject(declarator.init);
  refusals.push(...reading.refusals);
  return { ...reading, meta: refusals.length > 0 ? undefined : reading.meta, exportAt: exported.start, refusals };
}

/** The object literal with which a longer expression begins. */
function literalBefore(node: ast.AnyNode): ast.ObjectExpression | undefined {
  switch (node.type) {
    case 'ObjectExpression':
      return node;
    case 'CallExpression':
      return literalBefore(node.callee);
    case 'MemberExpression':
      return literalBefore(node.object);
    case 'TaggedTemplateExpression':
      return literalBefore(node.tag);
    case 'BinaryExpression':
    case 'LogicalExpression':
      return literalBefore(node.left);
    case 'ChainExpression':
      return literalBefore(node.expression);
    default:
      return undefined;
  }
}

/** Reads the object alone. */
export function readMetaObject(node: ast.ObjectExpression): Omit<MetaReading, 'exportAt'> {
  const problems: LiteralProblem[] = [];
  const value = readLiteral(node, 'meta', problems, { reservedKeys: RESERVED_KEYS }) as Record<string, unknown>;
  const refusals = problems.map(({ at, message }) =>
    fault(at, `${message}.`, 'meta is read without running the script: write plain values, and compute in the body.'),
  );
  const members = new Map(
    node.properties.flatMap((member) =>
      member.type === 'Property' && !member.computed ? [[keyOf(member), member] as const] : [],
    ),
  );
  const text = (key: 'name' | 'description'): string => {
    const given = value[key];
    if (typeof given === 'string' && given.trim() !== '') return given;
    const member = members.get(key);
    // What is no literal has been named already.
    if (member && given === undefined) return '';
    const what = member ? `meta.${key} must be a non-empty text` : `meta.${key} is missing`;
    const found = member && given !== '' ? `, found ${describeNode(member.value)}` : '';
    refusals.push(fault(member?.value.start ?? node.start, `${what}${found}.`, REMEDIES[key]));
    return '';
  };
  const warnings: Finding[] = [];
  const meta: WorkflowMeta = {
    name: text('name'),
    description: text('description'),
    ...optionalText(value, 'title'),
    ...optionalText(value, 'whenToUse'),
    phases: readPhases(value.phases, members.get('phases'), warnings),
  };
  return { meta: refusals.length > 0 ? undefined : meta, refusals, warnings };
}

const REMEDIES = {
  name: "Give the workflow a name, such as `name: 'review-files'`; it is run by that name once it is saved.",
  description: "Say in one line what it does: `description: '…'`.",
};

function readPhases(value: unknown, member: ast.Property | undefined, warnings: Finding[]): WorkflowMeta['phases'] {
  if (value === undefined || member === undefined) return [];
  const { value: node } = member;
  const ignored = (message: string, at: ast.Node | null | undefined = node) =>
    void warnings.push({
      at: (at ?? node).start,
      code: 'WF_CHECK_META',
      severity: 'warning',
      message,
      remedy: "Write `phases: [{ title: '…' }]`.",
    });
  if (!Array.isArray(value)) {
    ignored('meta.phases is not an array and is ignored.');
    return [];
  }
  return value.flatMap((phase: unknown, index) => {
    const entry = (typeof phase === 'object' && phase !== null ? phase : {}) as Record<string, unknown>;
    if (typeof entry.title !== 'string') {
      const entryNode = node.type === 'ArrayExpression' ? node.elements[index] : undefined;
      ignored(`meta.phases[${index}] has no text as its title and is ignored.`, entryNode);
      return [];
    }
    return [{ title: entry.title, ...optionalText(entry, 'detail'), ...optionalText(entry, 'model') }];
  });
}

function optionalText<Key extends string>(value: Record<string, unknown>, key: Key): { [K in Key]?: string } {
  const given = value[key];
  return typeof given === 'string' && given !== '' ? ({ [key]: given } as { [K in Key]?: string }) : {};
}

type MetaExport = ast.ExportNamedDeclaration & { declaration: ast.VariableDeclaration };
type Statement = ast.Program['body'][number];

const declaresMeta = ({ id }: ast.VariableDeclarator): boolean => id.type === 'Identifier' && id.name === 'meta';

/** True for `export const meta …`, however its value looks. */
export const exportsMeta = (node: Statement): node is MetaExport =>
  node.type === 'ExportNamedDeclaration' &&
  node.declaration?.type === 'VariableDeclaration' &&
  node.declaration.declarations.some(declaresMeta);

const isDirective = (node: Statement): boolean => node.type === 'ExpressionStatement' && node.directive !== undefined;
const isModuleForm = (node: Statement): boolean => /^(?:Import|Export)\w*Declaration$/.test(node.type);

function explainMissing(body: readonly Statement[]): Refusal {
  const plain = body.find((node) => node.type === 'VariableDeclaration' && node.declarations.some(declaresMeta));
  if (plain)
    return fault(plain.start, 'meta must be exported where it is declared.', `Begin the script with ${SHAPE}.`);
  const what = body.length === 0 ? 'The script is empty' : 'The script has no meta';
  return fault(body[0]?.start ?? 0, `${what}: it must begin with ${SHAPE}.`, 'Add that statement at the top.');
}

const fault = (at: number, message: string, remedy: string): Refusal => ({
  at,
  code: 'WF_SCRIPT_META',
  message,
  remedy,
  severity: 'error',
});
