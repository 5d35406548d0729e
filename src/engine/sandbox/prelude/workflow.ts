import { waitFor } from './calls.js';
import { describe, makeError } from './errors.js';
import { config, hostCall } from './host.js';
import { G, isArray, lock, parse, PError, PTypeError, stringify } from './primordials.js';
import { currentPath, nextGroup } from './place.js';
import { plain } from './plain.js';

lock(
  G,
  'workflow',
  async function workflow(reference: unknown, args?: unknown): Promise<unknown> {
    if (config.child) {
      const error = new PError(
        'workflow() cannot be called inside a child workflow: one level is the limit. Call its agents here, or call both workflows from the parent.',
      );
      (error as { code?: string }).code = 'WF_NESTING';
      throw error;
    }
    let referenceText: string;
    if (typeof reference === 'string' && reference !== '')
      referenceText = stringify({ __proto__: null, name: reference });
    else {
      const path =
        reference !== null && typeof reference === 'object' && !isArray(reference)
          ? (reference as { scriptPath?: unknown }).scriptPath
          : undefined;
      if (typeof path !== 'string' || path === '') {
        throw new PTypeError(
          `workflow(name | { scriptPath }, args): the first argument names no workflow; got ${describe(reference)}.`,
        );
      }
      referenceText = stringify({ __proto__: null, scriptPath: path });
    }
    const copy = args === undefined ? undefined : plain(args, 'args');
    const argsText = copy === undefined ? '' : stringify(copy);
    const here = currentPath();
    const path = `${here === '' ? '' : `${here}/`}w${nextGroup()}`;
    const answer = await waitFor((id) => hostCall(id, 'workflow', referenceText, argsText, path));
    if (answer.cause !== undefined) throw makeError(answer.cause);
    return answer.json === undefined ? undefined : parse(answer.json);
  },
  true,
);
