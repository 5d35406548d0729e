/** What an agent is asked, in pieces that follow each other as one text. */
import type { AgentRequest } from '../backend.js';

/** The whole question, for an agent that knows nothing of the call: the definition in front, the schema behind. */
export function wordQuestion(request: AgentRequest): string[] {
  const pieces = request.agent ? [`${request.agent.prompt.trimEnd()}\n\n`] : [];
  // After an answer that did not fit, from a session that is gone.
  if (request.anew !== undefined) return [...pieces, request.anew];
  pieces.push(request.prompt);
  if (request.schema) {
    pieces.push(
      `\n\nAnswer with one JSON value that fits this JSON Schema, and with no other text:\n${JSON.stringify(request.schema)}`,
    );
  }
  return pieces;
}
