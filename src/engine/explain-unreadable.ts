/** Why a run ends whose recorded answers can no longer be read: to ask again for what was paid would be the wrong way on. */
import { messageOf, WfError } from '../shared/errors.js';
import type { ErrorRecord } from '../shared/outcome.js';

export function explainUnreadable(error: unknown): ErrorRecord {
  const code = WfError.is(error) ? error.code : 'WF_INTERNAL';
  const message = `A recorded answer could not be given to its call. ${messageOf(error)} This run has a copy of every answer that could be read: resume this one.`;
  return { code, message };
}
