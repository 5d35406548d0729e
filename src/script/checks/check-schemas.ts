import type * as ast from 'acorn';
import { full } from 'acorn-walk';
import { messageOf } from '../../shared/errors.js';
import { tellSchemaFaults } from '../../shared/schema-faults.js';
import { findShorthand, findShorthandWithin } from '../../shared/schema-shorthand.js';
import { type LiteralProblem, readLiteral } from '../read-literal.js';
import { type CheckContext, calledName, readOptions, resolveConstant } from './context.js';
import { findContradiction } from './find-contradiction.js';
import type { createCompiler } from './schema-compilers.js';

/** Schemas that stand literally in the script: they must compile, and some value must fit. */
export async function checkSchemas(context: CheckContext, nodes: Iterable<ast.Expression>): Promise<void> {
  const compile = makeCompiler();
  for (const node of nodes) {
    const message = await explainSchema(node, context, compile);
    if (message) {
      context.report(node, {
        code: 'WF_CHECK_SCHEMA',
        severity: message.isError ? 'error' : 'warning',
        message: message.text,
        remedy: message.remedy,
      });
    }
  }
}

/** The schemas of all calls, each once. */
export function findSchemas({ program, names }: CheckContext): Set<ast.Expression> {
  const schemas = new Set<ast.Expression>();
  full(program, (node) => {
    if (node.type !== 'CallExpression') return;
    const name = calledName(node, names);
    if (name !== 'agent' && name !== 'agent.settled') return;
    const options = readOptions(node, names);
    // Of two the last counts.
    const last = options?.members.findLast(({ key }) => key === 'schema');
    if (last) schemas.add(resolveConstant(last.node.value, names));
  });
  return schemas;
}

interface Explained {
  text: string;
  remedy: string;
  isError: boolean;
}

async function explainSchema(
  node: ast.Expression,
  { names }: CheckContext,
  compile: ReturnType<typeof makeCompiler>,
): Promise<Explained | undefined> {
  const problems: LiteralProblem[] = [];
  // Constants may name each other, in a circle too.
  let left = 200;
  const resolve = (name: ast.Identifier) => (left-- > 0 ? names.constantOf(name) : undefined);
  const schema = readLiteral(node, 'schema', problems, { resolve });
  // What is made at run time is checked then.
  if (problems.length > 0 || schema === null) return undefined;
  const error = (text: string, remedy: string): Explained => ({ text, remedy, isError: true });
  if (typeof schema !== 'object' || Array.isArray(schema))
    return error(
      'A schema must be a JSON Schema object.',
      "Write `{ type: 'object', properties: { … }, required: […] }`.",
    );
  const reason = await compile(schema);
  if (reason) return error(`The schema is not valid: ${reason}.`, 'Correct it after the JSON Schema specification.');
  const foreign = findShorthand(schema);
  if (foreign !== undefined) {
    const text = `The schema says nothing of the answer: \`${foreign}\` is no keyword of JSON Schema.`;
    return error(text, "Write `{ type: 'object', properties: { … }, required: […] }`.");
  }
  const contradiction = findContradiction(schema, 'schema');
  if (contradiction) return error(`No answer can fit: ${contradiction}.`, 'Correct the schema, or every try fails.');
  const loose = findShorthandWithin(schema, 'schema');
  if (loose !== undefined) {
    return {
      text: `${loose} is no keyword of JSON Schema, so that anything fits there.`,
      remedy: "Write `{ type: 'object', properties: { name: { type: 'string' } } }` for an object in an object.",
      isError: false,
    };
  }
  const { type } = schema as { type?: unknown };
  if (typeof type === 'string' && type !== 'object') {
    return {
      text: `The schema asks for ${type === 'array' ? 'an array' : `a ${type}`}; other engines accept only objects.`,
      remedy: "Put it into an object: `{ type: 'object', properties: { value: … }, required: ['value'] }`.",
      isError: false,
    };
  }
  return undefined;
}

/** Makes compilers when a schema needs one, each once: why a schema does not compile. */
function makeCompiler(): (schema: object) => Promise<string | undefined> {
  const made = new Map<7 | 2020, ReturnType<typeof createCompiler>>();
  return async (schema) => {
    const { $schema, ...rest } = schema as { $schema?: unknown };
    const draft = typeof $schema === 'string' && /20(?:19-09|20-12)/.test($schema) ? 2020 : 7;
    const { createCompiler } = await import('./schema-compilers.js');
    const compiler = made.get(draft) ?? createCompiler(draft);
    made.set(draft, compiler);
    try {
      compiler.compile(rest);
      return undefined;
    } catch (error) {
      const [, faults] = /^schema is invalid: data(.*)$/s.exec(messageOf(error)) ?? [];
      if (faults === undefined) return messageOf(error).replace(/\.$/, '');
      return tellSchemaFaults(faults.split(/, data(?=[/ ])/).map((line) => (line.startsWith(' ') ? `/${line}` : line)));
    }
  };
}
