/** What the fake model does with one request. */

/** Wire formats that agents speak with their model. */
export type Wire = 'anthropic' | 'responses' | 'chat' | 'gemini';

/** Tokens of a reply; every one has the same unless it says otherwise. */
export const STEP_USAGE = { in: 1_000, out: 50 };

export type ModelStep = { usage?: { in: number; out: number } } & (
  | { text: string }
  /** A structured answer, by the agent's own tool for it where it has one, else as text. */
  | { json: unknown }
  /** The agent's shell tool runs this; the next request brings its output. */
  | { shell: string }
  /** Any tool by its name. */
  | { tool: string; input: object }
  | { status: number; retryAfter?: number; message?: string }
  /** The account's limit is used up until then, epoch seconds. */
  | { usageLimit: number }
  /** The stream breaks off in the middle of the answer. */
  | { cut: true }
  /** Takes the request and never says a word. */
  | { silent: true }
);

export interface ModelRequest {
  /** From 1. */
  n: number;
  wire: Wire;
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it was sent. */
  raw: string;
  body: Record<string, unknown>;
  model: string;
  tools: string[];
}
