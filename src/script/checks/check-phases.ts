import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { nearestWord } from '../../shared/nearest-word.js';
import { keyOf } from '../read-literal.js';
import { exportsMeta } from '../read-meta.js';
import { type CheckContext, calledName, functionNamed, isFunction, readOptions, textOf } from './context.js';

/**
 * Titles in `meta.phases` that nothing uses, and phases that `meta.phases` does not name. Only where every phase name of
 * the script is literal: else any title may be used.
 */
export function checkPhases(context: CheckContext): void {
  const { program, names, meta, report } = context;
  checkPhaseWork(context);
  if (!meta || meta.phases.length === 0) return;
  const used = findPhaseNames(program, names);
  if (!used) return;
  const planned = meta.phases.map(({ title }) => title);
  for (const title of planned) {
    if (used.some(({ text }) => text === title)) continue;
    const nearest = nearestWord(
      title,
      used.map(({ text }) => text).filter((text) => !planned.includes(text)),
    );
    report(titleNode(program, title), {
      code: 'WF_CHECK_PHASE',
      severity: 'warning',
      message: `No phase() and no \`phase\` option uses the phase ${JSON.stringify(title)} of meta.`,
      remedy: nearest ? `Did you mean ${JSON.stringify(nearest)}?` : 'Use it, or remove it from `meta.phases`.',
    });
  }
  const told = new Set<string>();
  for (const { text, node } of used) {
    if (planned.includes(text) || told.has(text)) continue;
    told.add(text);
    const nearest = nearestWord(text, planned);
    report(node, {
      code: 'WF_CHECK_PHASE',
      severity: 'warning',
      message: `meta.phases has no phase ${JSON.stringify(text)}; it makes a group of its own.`,
      remedy: nearest ? `Did you mean ${JSON.stringify(nearest)}?` : 'Add it to `meta.phases`.',
    });
  }
}

/** `phase('Find', async () => …)` as other tools have it: what the function would start never runs, and nobody says so. */
function checkPhaseWork(context: CheckContext): void {
  const { program, names, report } = context;
  const isWork = (node: ast.AnyNode): boolean =>
    node.type === 'Identifier' ? functionNamed(node, context) !== undefined : isFunction(node);
  full(program, (node) => {
    if (node.type !== 'CallExpression' || calledName(node, names) !== 'phase') return;
    const work = node.arguments.slice(1).find(isWork);
    if (work === undefined) return;
    report(work, {
      code: 'WF_CHECK_PHASE',
      severity: 'warning',
      message: 'phase() takes a title alone: this function is never called.',
      remedy: 'Write `phase(…)` as a statement of its own, and the work below it.',
    });
  });
}

/** Every phase name of the script, or `undefined` when one is made at run time. */
function findPhaseNames(
  program: ast.Program,
  names: CheckContext['names'],
): { text: string; node: ast.Node }[] | undefined {
  const used: { text: string; node: ast.Node }[] = [];
  const seen = new Set<ast.Node>();
  let isKnown = true;
  const add = (node: ast.AnyNode | undefined) => {
    if (node?.type === 'ConditionalExpression') {
      add(node.consequent);
      add(node.alternate);
      return;
    }
    const text = node && textOf(node, names);
    if (node && text !== undefined) used.push({ text, node });
    else isKnown = false;
  };
  // A function handed on is called with what cannot be seen here.
  const direct = new Set<ast.Node>();
  full(program, (node) => {
    if (node.type !== 'CallExpression') return;
    const name = calledName(node, names);
    if (name === undefined) return;
    direct.add(node.callee.type === 'MemberExpression' ? node.callee.object : node.callee);
    if (name === 'phase') add(node.arguments[0]);
    if (name !== 'agent' && name !== 'agent.settled') return;
    const options = readOptions(node, names);
    if (!options?.isComplete) isKnown = false;
    for (const { key, node: member } of options?.members ?? []) {
      if (key !== 'phase' || seen.has(member)) continue;
      seen.add(member);
      add(member.value);
    }
  });
  const handedOn = ['agent', 'phase'].some((name) => names.free.get(name)?.some((node) => !direct.has(node)));
  return isKnown && !handedOn ? used : undefined;
}

/** Where the title stands in meta. */
function titleNode(program: ast.Program, title: string): ast.Node {
  const declaration = program.body.find(exportsMeta) ?? program;
  let found: ast.Node | undefined;
  full(declaration, (node) => {
    if (node.type !== 'Property' || node.computed || keyOf(node as ast.Property) !== 'title') return;
    const { value } = node;
    const text = value.type === 'TemplateLiteral' ? value.quasis[0]?.value.cooked : 'value' in value ? value.value : '';
    if (text === title) found ??= value;
  });
  return found ?? declaration;
}
