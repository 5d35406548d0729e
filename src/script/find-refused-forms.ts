/** What a workflow may not contain, found in the syntax tree: module loading, the clock, randomness. */
import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import type { Refusal } from './finding.js';
import { exportsMeta } from './read-meta.js';
import type { ResolvedNames } from './resolve-names.js';

export function findRefusedForms(program: ast.Program, names: ResolvedNames): Refusal[] {
  const refusals: Refusal[] = [];
  const refuse = (node: ast.Node, form: Omit<Refusal, 'at' | 'severity'>) =>
    void refusals.push({ ...form, at: node.start, severity: 'error' });
  const meta = program.body.find(exportsMeta);
  full(program, (node) => {
    if (node !== meta) {
      const form = moduleForm(node) ?? unstableCall(node, names);
      if (form) refuse(node, form);
    }
  });
  return refusals;
}

function moduleForm(node: ast.AnyNode): Omit<Refusal, 'at' | 'severity'> | undefined {
  const code = 'WF_SCRIPT_MODULE';
  const whole = 'Put everything that the workflow needs into this file; agents do the rest.';
  switch (node.type) {
    case 'ImportDeclaration':
      return { code, message: '`import` is not available: a workflow is one file.', remedy: whole };
    case 'ImportExpression':
      return { code, message: '`import()` is not available in a workflow.', remedy: whole };
    case 'MetaProperty':
      if (node.meta.name !== 'import') return undefined;
      return {
        code,
        message: '`import.meta` is not available in a workflow.',
        remedy: 'Pass paths and settings in through args.',
      };
    case 'ExportDefaultDeclaration':
      return {
        code,
        message: '`export default` is not part of a workflow.',
        remedy: 'Write the work as the body below meta, and `return` its result.',
      };
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return {
        code,
        message: 'The only export of a workflow is `export const meta = {…}`.',
        remedy: 'Remove the word `export`; `return` what the workflow gives back.',
      };
  }
  return undefined;
}

const TIME_REMEDY = 'Pass the time in through args, or ask an agent for it; `new Date(value)` is fine.';

/** `Date.now()`, `Date()`, `new Date()` and `Math.random()`, where `Date` and `Math` are the built-in ones. */
function unstableCall(node: ast.AnyNode, names: ResolvedNames): Omit<Refusal, 'at' | 'severity'> | undefined {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return undefined;
  const code = 'WF_SCRIPT_DETERMINISM' as const;
  const clock = (form: string) => ({
    code,
    message: `\`${form}\` reads the clock, so a resumed run would differ.`,
    remedy: TIME_REMEDY,
  });
  const { callee } = node;
  if (callee.type === 'Identifier' && callee.name === 'Date' && names.isFree(callee)) {
    if (node.type === 'CallExpression') return clock('Date()');
    return node.arguments.length === 0 ? clock('new Date()') : undefined;
  }
  if (node.type !== 'CallExpression' || callee.type !== 'MemberExpression') return undefined;
  const { object } = callee;
  if (object.type !== 'Identifier' || !names.isFree(object)) return undefined;
  const member = `${object.name}.${memberName(callee)}`;
  if (member === 'Date.now') return clock('Date.now()');
  if (member !== 'Math.random') return undefined;
  return {
    code,
    message: '`Math.random()` gives other numbers each time, so a resumed run would differ.',
    remedy: 'Vary prompts by the index of the item, or pass a seed in through args.',
  };
}

/** The name of a property that is accessed by a name or a literal. */
export function memberName(node: ast.MemberExpression): string | undefined {
  if (!node.computed) return node.property.type === 'Identifier' ? node.property.name : undefined;
  return node.property.type === 'Literal' && typeof node.property.value === 'string' ? node.property.value : undefined;
}
