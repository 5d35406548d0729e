import { waitFor } from './calls.js';
import { describe, makeError, misuse } from './errors.js';
import { config, hostCall } from './host.js';
import { G, isArray, lock, stringify } from './primordials.js';
import { currentPath, nextGroup } from './place.js';
import { plain } from './plain.js';

lock(
  G,
  'workflow',
  async function workflow(reference: unknown, args?: unknown): Promise<unknown> {
    if (config.child) {
      throw makeError({
        name: 'Error',
        code: 'WF_NESTING',
        message:
          'workflow() cannot be called inside a child workflow: one level is the limit. Call its agents here, or call both workflows from the parent.',
      });
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
        throw misuse(
          'WF_MISUSE',
          `workflow(name | { scriptPath }, args): the first argument names no workflow; got ${describe(reference)}.`,
        );
      }
      referenceText = stringify({ __proto__: null, scriptPath: path });
    }
    const copy = args === undefined ? undefined : plain(args, 'workflow(): args', 'WF_MISUSE');
    const argsText = copy === undefined ? '' : stringify(copy);
    const here = currentPath();
    const path = `${here === '' ? '' : `${here}/`}w${nextGroup()}`;
    const answer = await waitFor((id) => hostCall(id, 'workflow', referenceText, argsText, path));
    if (answer.cause !== undefined) throw makeError(answer.cause);
    return answer.value;
  },
  true,
);
