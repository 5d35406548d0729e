import type * as ast from 'acorn';
import { fullAncestor } from 'acorn-walk';
import { nearestWord } from '../../shared/nearest-word.js';
import { ABSENT_GLOBALS, PRESENT_GLOBALS } from '../known-globals.js';
import type { CheckContext } from './context.js';

/** Uses of names that neither the script nor its surroundings have; `typeof name` is always fine. */
export function checkGlobals({ program, names, report }: CheckContext): void {
  const unknown = new Map<ast.Node, { name: string; isTried: boolean }>();
  const asked = new Set<string>();
  fullAncestor(program, (node, _state, ancestors) => {
    if (node.type === 'UnaryExpression' && node.operator === 'typeof' && node.argument.type === 'Identifier')
      asked.add(node.argument.name);
    if (node.type !== 'Identifier' || PRESENT_GLOBALS.has(node.name) || !names.isFree(node)) return;
    const isTried = ancestors.some(
      (outer, index) => outer.type === 'TryStatement' && ancestors[index + 1] === outer.block,
    );
    unknown.set(node, { name: node.name, isTried });
  });
  const meant = new Map<string, string | undefined>();
  for (const [node, { name, isTried }] of unknown) {
    if (asked.has(name)) continue;
    const instead = ABSENT_GLOBALS.get(name);
    if (instead !== undefined) {
      report(node, {
        code: 'WF_CHECK_ABSENT',
        severity: isTried ? 'warning' : 'error',
        message: `\`${name}\` is not available in a workflow.`,
        remedy: instead,
      });
      continue;
    }
    if (!meant.has(name)) meant.set(name, nearestWord(name, PRESENT_GLOBALS));
    const nearest = meant.get(name);
    report(node, {
      code: 'WF_CHECK_UNDEFINED',
      severity: 'warning',
      message: `\`${name}\` is declared nowhere.`,
      remedy: nearest ? `Did you mean \`${nearest}\`?` : 'Declare it, or correct its name.',
    });
  }
}
