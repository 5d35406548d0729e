/** What a backend tells, as it may leave: without secrets and not too long. Masked first, as a secret that is cut is none any more. */
import { type AgentEvent, BackendError } from './backend.js';
import type { Mask } from './mask-secrets.js';

/** Characters of one progress or warning. */
const MAX_TEXT = 16_000;
/** Characters of the message of an error. */
const MAX_MESSAGE = 2_500;

export function handOverEvent(event: AgentEvent, mask: Mask | undefined): AgentEvent {
  switch (event.type) {
    case 'progress':
    case 'warning': {
      const text = clean(event.text, mask, MAX_TEXT);
      return text === event.text ? event : { ...event, text };
    }
    case 'tool':
      return mask ? { ...event, name: mask(event.name) } : event;
    case 'model':
      return mask ? { ...event, model: mask(event.model) } : event;
    case 'usage':
      return event;
  }
}

export function handOverError(error: BackendError, mask: Mask | undefined): BackendError {
  const message = clean(error.message, mask, MAX_MESSAGE);
  if (!mask && message === error.message) return error;
  const { retryAfterMs, resetsAt, usage, remedy, noRoom } = error;
  return new BackendError(error.kind, message, {
    retryAfterMs,
    resetsAt: resetsAt && mask ? mask(resetsAt) : resetsAt,
    usage,
    noRoom,
    remedy: remedy && mask ? mask(remedy) : remedy,
    cause: error.cause,
  });
}

const clean = (text: string, mask: Mask | undefined, most: number): string => (mask ? mask(text) : text).slice(0, most);
