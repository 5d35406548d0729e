/** What goes over a control socket: one JSON line each way. */
import { createHash, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';

/** Longest line, bytes; a request is far shorter. */
export const MAX_LINE_BYTES = 16_384;
/** A client that says or takes nothing for so long is let go, ms. */
export const CONTROL_TIMEOUT_MS = 5_000;

const commandSchema = z.discriminatedUnion('verb', [
  z.object({
    verb: z.literal('stop'),
    /** Let what runs finish; `ms` is how long at most, by default as the run was told with `--drain`. */
    drain: z.object({ ms: z.number().int().min(0).max(2_147_483_647).optional() }).optional(),
  }),
  z.object({ verb: z.enum(['skip', 'retry']), call: z.string().max(2_000) }),
]);

export const requestSchema = z.object({
  version: z.literal(1),
  runId: z.string(),
  token: z.string(),
  command: commandSchema,
});

export const replySchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    /** The call that it was about. */
    call: z.looseObject({ n: z.number(), label: z.string(), was: z.string() }).optional(),
  }),
  z.object({ ok: z.literal(false), code: z.string(), message: z.string(), remedy: z.string().optional() }),
]);

export type ControlCommand = z.infer<typeof commandSchema>;
export type ControlRequest = z.infer<typeof requestSchema>;
export type ControlReply = z.infer<typeof replySchema>;

/** Takes the same time for any two texts. */
export function isSameToken(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
