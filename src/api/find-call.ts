/** From what a person typed to one call of a run. */
import { WfError } from '../shared/errors.js';

interface NamedCall {
  n: number;
  label: string;
  key: string | null;
}

/**
 * Finds one call by `#n`, or by a prefix of its label or key that only one call has.
 *
 * @throws WfError `WF_USAGE` naming the candidates
 */
export function findCall<T extends NamedCall>(calls: readonly T[], text: string): T {
  const byNumber = /^#?(\d+)$/.exec(text);
  const found = byNumber ? calls.filter((call) => call.n === Number(byNumber[1])) : exactOrPrefix(calls, text);
  if (found.length === 1) return found[0] as T;
  const list = (found.length > 0 ? found : calls).slice(0, 10).map((call) => `#${call.n} ${call.label}`);
  throw new WfError(
    'WF_USAGE',
    found.length === 0
      ? `No call of this run is ${JSON.stringify(text)}.`
      : `${found.length} calls of this run are ${JSON.stringify(text)}.`,
    { remedy: `Name one by its number: ${list.join(', ')}${calls.length > list.length ? ', …' : ''}.` },
  );
}

function exactOrPrefix<T extends NamedCall>(calls: readonly T[], text: string): T[] {
  const exact = calls.filter((call) => call.label === text);
  return exact.length > 0 ? exact : calls.filter((call) => call.label.startsWith(text) || call.key?.startsWith(text));
}
