/** Whether calls of a script may name backends of their own: asked only where the run has none. */
import { parse } from 'acorn';
import { full } from 'acorn-walk';
import { memberName } from './find-refused-forms.js';
import { PARSE_OPTIONS } from './parse-script.js';

/**
 * True where the script gives anything a member `backend`, or opens other workflows, whose calls may do so.
 *
 * @param code of a checked script
 */
export function mayNameBackend(code: string): boolean {
  let found = false;
  full(parse(code, PARSE_OPTIONS), (node) => {
    if (node.type === 'Identifier') found ||= node.name === 'workflow';
    else if (node.type === 'MemberExpression') found ||= memberName(node) === 'backend';
    else if (node.type === 'Property') {
      const { key } = node;
      found ||= key.type === 'Identifier' ? key.name === 'backend' : key.type === 'Literal' && key.value === 'backend';
    }
  });
  return found;
}
