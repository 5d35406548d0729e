import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { AGENT_OPTIONS } from '../../shared/agent-options.js';
import { nearestOrBegun, nearestWord } from '../../shared/nearest-word.js';
import { faultOfOption } from '../../shared/option-values.js';
import { describeNode, type LiteralProblem, readLiteral } from '../read-literal.js';
import { type CheckContext, calledName, readOptions, resolveConstant, textOf } from './context.js';

/** Prompts, options and names in calls of `agent()`, `workflow()` and `budget`, as far as they are literal. */
export function checkOptions(context: CheckContext): void {
  const { program, names } = context;
  // One object may serve several calls.
  const seen = new Set<ast.Node>();
  full(program, (node) => {
    if (node.type !== 'CallExpression') return;
    const name = calledName(node, names);
    if (name === 'agent' || name === 'agent.settled') {
      checkPrompt(node, name, context);
      const members = readOptions(node, names)?.members ?? [];
      // Of two of one name, as behind a spread of defaults, the call is given the last.
      for (const [key, member] of new Map(members.map((option) => [option.key, option.node]))) {
        if (!seen.has(member)) checkOption(key, member, context);
        seen.add(member);
      }
    } else if (name === 'workflow') checkWorkflowName(node, context);
    else if (name === 'budget') {
      context.report(node, {
        code: 'WF_CHECK_BUDGET',
        severity: 'error',
        message: '`budget` is an object, not a function.',
        remedy: 'Read `budget.total`, `budget.spent()` or `budget.remaining()`; the limit itself is set by `--budget`.',
      });
    }
  });
}

const NO_TEXT = new Set([
  'Literal',
  'ObjectExpression',
  'ArrayExpression',
  'ArrowFunctionExpression',
  'FunctionExpression',
]);

function checkPrompt(call: ast.CallExpression, name: string, { names, report }: CheckContext): void {
  const [prompt, options] = call.arguments;
  if (prompt?.type === 'SpreadElement') return;
  const node = prompt && resolveConstant(prompt, names);
  const text = node && textOf(node, names);
  if (!node || text === '' || (text === undefined && NO_TEXT.has(node.type))) {
    const found = node ? (text === '' ? 'an empty one' : describeNode(node)) : 'nothing';
    report(prompt ?? call, {
      code: 'WF_CHECK_PROMPT',
      severity: 'error',
      message: `${name}() needs a prompt, a non-empty text, found ${found}.`,
      remedy: "Write `agent('What to do', { …options })`.",
    });
  }
  if (options === undefined || options.type === 'SpreadElement') return;
  const given = resolveConstant(options, names);
  if (given.type === 'ObjectExpression' || !(NO_TEXT.has(given.type) || given.type === 'TemplateLiteral')) return;
  if (given.type === 'Literal' && given.value === null) return;
  report(options, {
    code: 'WF_CHECK_OPTION',
    severity: 'error',
    message: `The options of ${name}() must be an object, found ${describeNode(given)}.`,
    remedy: "Write `{ label: '…' }` for a name that is shown.",
  });
}

function checkOption(key: string, member: ast.Property, context: CheckContext): void {
  const { names, report, agentTypes } = context;
  if (key === 'effect') {
    report(member, {
      code: 'WF_CHECK_OPTION',
      severity: 'error',
      message: 'The option `effect` is not supported yet: the call would be refused.',
      remedy: 'Leave it out.',
    });
    return;
  }
  if (!(AGENT_OPTIONS as readonly string[]).includes(key)) {
    const nearest = nearestOrBegun(key, AGENT_OPTIONS);
    report(member, {
      code: 'WF_CHECK_OPTION',
      severity: 'warning',
      message: `agent() has no option \`${key}\`; it is ignored.`,
      remedy: nearest ? `Did you mean \`${nearest}\`?` : `Its options are ${AGENT_OPTIONS.join(', ')}.`,
    });
    return;
  }
  checkValue(key, member, context);
  const text = textOf(member.value, names);
  // `plugin:name` is the backend's own business.
  if (key === 'agentType' && text && agentTypes && !text.includes(':') && !agentTypes.includes(text)) {
    const nearest = nearestWord(text, agentTypes);
    report(member.value, {
      code: 'WF_CHECK_AGENT_TYPE',
      severity: 'error',
      message: `Unknown agent type ${JSON.stringify(text)}; known are: ${agentTypes.join(', ') || 'none'}.`,
      remedy: nearest ? `Did you mean \`${nearest}\`?` : 'Add its definition to .claude/agents.',
    });
  }
}

/** A literal that the call would be refused for. */
function checkValue(key: string, member: ast.Property, { names, report }: CheckContext): void {
  // The check of schemas says more of one.
  if (key === 'schema') return;
  const problems: LiteralProblem[] = [];
  const value = readLiteral(resolveConstant(member.value, names) as ast.Expression, key, problems);
  const fault = problems.length === 0 ? faultOfOption(key, value) : undefined;
  if (fault === undefined) return;
  report(member.value, {
    code: key === 'isolation' ? 'WF_CHECK_ISOLATION' : 'WF_CHECK_OPTION',
    severity: 'error',
    message: `The option \`${key}\` ${fault}: the call would be refused.`,
    remedy: key === 'isolation' ? "Write `isolation: 'worktree'`, or leave it out." : 'Correct it, or leave it out.',
  });
}

function checkWorkflowName(call: ast.CallExpression, { names, report, workflows }: CheckContext): void {
  const [target] = call.arguments;
  const name = target && textOf(target, names);
  if (target === undefined || name === undefined || !workflows || workflows.includes(name)) return;
  const nearest = nearestWord(name, workflows);
  report(target, {
    code: 'WF_CHECK_WORKFLOW',
    severity: 'error',
    message: `There is no saved workflow ${JSON.stringify(name)}; known are: ${workflows.join(', ') || 'none'}.`,
    remedy: nearest ? `Did you mean \`${nearest}\`?` : 'Save it in .claude/workflows, or call it by `{ scriptPath }`.',
  });
}
