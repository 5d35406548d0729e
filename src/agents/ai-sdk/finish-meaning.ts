/** What the reason of an answer's end means. Only `stop` is an answer; everything else would be a false success. */
import type { CallUsage } from '../../shared/outcome.js';
import { BackendError } from '../backend.js';
import { startOf } from '../whole-words.js';
import type { StreamEnd } from './read-stream.js';

export function explainFinish(
  { finishReason, rawReason, text }: StreamEnd,
  maxSteps: number,
  usage: CallUsage | undefined,
): BackendError | undefined {
  const reason = rawReason === undefined || rawReason === finishReason ? finishReason : `${finishReason}, ${rawReason}`;
  switch (finishReason) {
    case 'stop':
      return undefined;
    case 'length':
      return new BackendError('failed', `The model's answer was cut off at its limit of output tokens (${reason}).`, {
        usage,
        remedy: 'Raise backends.ai-sdk.maxOutputTokens in the config, or ask for less.',
      });
    case 'content-filter':
      return new BackendError(
        'refused',
        `The model refused to answer (${reason})${text ? `: ${startOf(text, 500)}` : '.'}`,
        {
          usage,
        },
      );
    case 'tool-calls':
      return new BackendError('failed', `The model still used tools after ${maxSteps} requests and gave no answer.`, {
        usage,
        remedy: 'Raise backends.ai-sdk.maxSteps in the config, or ask for less.',
      });
    default:
      return new BackendError('protocol', `The model's answer broke off (${reason}).`, { usage });
  }
}
