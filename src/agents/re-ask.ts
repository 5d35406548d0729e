/** The words that ask an agent once more after an answer that does not fit the schema. */
import type { AgentRequest } from './backend.js';

const MAX_SHOWN = 20_000;

/**
 * What to ask after an answer that does not fit.
 *
 * @param inSession the session that gave the answer goes on; `anew` is for where it turns out to be gone
 */
export function reAsk(
  request: Pick<AgentRequest, 'prompt' | 'schema'>,
  answer: string,
  errors: readonly string[],
  inSession: boolean,
): { prompt: string; anew?: string } {
  const anew = reAskAnew(request.prompt, answer, errors, request.schema as object);
  return inSession ? { prompt: reAskInSession(errors), anew } : { prompt: anew };
}

/** For the session that gave the answer. */
function reAskInSession(errors: readonly string[]): string {
  return [
    'Your last answer does not fit the JSON Schema that was set for it:',
    ...errors.map((error) => `- ${error}`),
    'Answer again with the corrected JSON value alone, complete and without any other text.',
  ].join('\n');
}

/** For a backend without sessions: all that a new agent needs to know. */
function reAskAnew(prompt: string, answer: string, errors: readonly string[], schema: object): string {
  const shown = answer.length > MAX_SHOWN ? `${answer.slice(0, MAX_SHOWN)}\n[cut off here]` : answer;
  return `${prompt}\n\n---\nAn earlier answer to this was:\n\n${shown}\n\n${reAskInSession(errors)}\n\nThe JSON Schema: ${JSON.stringify(schema)}`;
}
