/**
 * Bytes between supervisor and sandbox. Down (to the sandbox): a head of JSON and a body of raw text pieces, each with
 * its length in front, so that answers pass without being escaped twice. Up: one JSON text a line.
 */

/** Two lengths in front of head and body, 4 bytes each. */
const PREFIX = 8;

export interface Frame {
  head: DownHead;
  body: Buffer;
}

/** [id, 1 = ok | 0 = failed, bytes in the body, output tokens, 1 = it fitted its schema only at the last try] */
export type DeliveredItem = [id: number, ok: 0 | 1, bytes: number, tokens: number, lastTry?: 1];

/** [kept ordinal, key, path, nth, bytes, output tokens, 1 = it fitted its schema only at the last try] */
export type IndexRow = [
  kept: number,
  key: string,
  path: string,
  nth: number,
  bytes: number,
  tokens: number,
  lastTry?: 1,
];
/** [kept ordinal, n, ms, path] */
export type TimerRow = [kept: number, n: number, ms: number, path: string];

export interface ScriptForSandbox {
  code: string;
  columnOffset: number;
  filename: string;
  lazy: string[];
}

export type DownHead =
  | {
      t: 'start';
      script: ScriptForSandbox;
      memoryMb: number;
      turnTimeoutMs: number;
      budgetTotal: number | null;
      /** Name → digest of the definition file; `''` for a name without a file. */
      agentTypes: Record<string, string>;
      /** Any agentType is accepted (dry run). */
      anyAgentType: boolean;
      match: 'content' | 'prefix';
      /** Absolute. The script never sees them: they make the `cwd` of a call relative to the root. */
      folders: { root: string; start: string };
      results: IndexRow[];
      timers: TimerRow[];
      /** The body holds the JSON text of `args`. */
      hasArgs: boolean;
    }
  | { t: 'answers'; items: [kept: number, bytes: number][]; reset: boolean }
  | { t: 'deliver'; items: DeliveredItem[] }
  | { t: 'workflow'; ok: true; script: ScriptForSandbox; name: string }
  | { t: 'workflow'; ok: false; name: string; code: string; message: string; line?: number; column?: number }
  | { t: 'deps'; digest: string; files?: Record<string, string> }
  | { t: 'deps'; digest: null; message: string };

/** Bytes, or texts one behind the other that have so many bytes together. */
export type FrameBody = Buffer | { texts: readonly string[]; bytes: number };

export function encodeFrame(head: DownHead, body?: FrameBody): Buffer {
  const text = JSON.stringify(head);
  const headLength = Buffer.byteLength(text);
  const bodyLength = body === undefined ? 0 : Buffer.isBuffer(body) ? body.length : body.bytes;
  const frame = Buffer.allocUnsafe(PREFIX + headLength + bodyLength);
  frame.writeUInt32LE(headLength, 0);
  frame.writeUInt32LE(bodyLength, 4);
  let at = PREFIX + frame.write(text, PREFIX);
  if (Buffer.isBuffer(body)) body.copy(frame, at);
  else if (body !== undefined) for (const piece of body.texts) at += frame.write(piece, at);
  return frame;
}

/**
 * Reads one frame by means of `fill`, which blocks until it has put at least one byte into the buffer and returns how
 * many, or 0 at the end of the stream.
 *
 * @returns undefined at the end of the stream
 */
export function createFrameReader(fill: (target: Buffer) => number): () => Frame | undefined {
  let buffer = Buffer.allocUnsafe(1 << 16);
  let start = 0;
  let end = 0;
  const need = (bytes: number): boolean => {
    if (buffer.length - start < bytes) {
      const larger = Buffer.allocUnsafe(Math.max(buffer.length, bytes * 2));
      buffer.copy(larger, 0, start, end);
      buffer = larger;
      end -= start;
      start = 0;
    }
    while (end - start < bytes) {
      const got = fill(buffer.subarray(end));
      if (got === 0) return false;
      end += got;
    }
    return true;
  };
  return () => {
    if (!need(PREFIX)) return undefined;
    const headLength = buffer.readUInt32LE(start);
    const total = PREFIX + headLength + buffer.readUInt32LE(start + 4);
    if (!need(total)) return undefined;
    const bodyStart = start + PREFIX + headLength;
    const head = JSON.parse(buffer.toString('utf8', start + PREFIX, bodyStart)) as DownHead;
    const body = buffer.subarray(bodyStart, start + total);
    start += total;
    if (start === end) {
      // The body stays readable until the next frame is asked for.
      const frame = { head, body };
      start = 0;
      end = 0;
      return frame;
    }
    return { head, body };
  };
}

/** What the sandbox tells, in the order in which it happened. */
export type UpEvent =
  /** A call that must be executed. `opts` is null when there are no options besides label and phase. */
  | [
      type: 'c',
      n: number,
      key: string,
      path: string,
      nth: number,
      label: string,
      phase: string,
      prompt: string,
      opts: object | null,
    ]
  /** A kept result was delivered. */
  | [type: 'h', n: number, key: string, path: string, nth: number, label: string, phase: string, kept: number]
  /** A live outcome or timer was delivered. */
  | [type: 'd', id: number]
  /** A recorded timer was delivered. */
  | [type: 't', n: number, ms: number, path: string]
  /** A timer must be waited for. */
  | [type: 'T', id: number, n: number, ms: number, path: string]
  | [type: 'x', id: number]
  /** A call was refused for its own text. */
  | [type: 'r', n: number, label: string, phase: string, code: string, message: string]
  /** A call that nobody will hear: its workflow ended, perhaps before it was dispatched. */
  | [type: 'a', n: number, label: string, phase: string]
  | [type: 'l', level: string, text: string]
  | [type: 'p', title: string]
  | [type: 'w', code: string, text: string]
  /** An error of a script that did not end it: its slot became null, or nobody caught it. */
  | [type: 'e', how: 'slot' | 'rejection' | 'timer', slot: string, error: SandboxError];

export type UpMessage =
  | { t: 'ready'; isolatedVm: string }
  /** `rest`: everything received so far is worked off, and the sandbox waits. `got`: frames received so far. */
  | { t: 'events'; events: UpEvent[]; rest: boolean; got: number }
  /** It takes no turn before it has that answer, which may be among what was sent to it: `got` tells. */
  | { t: 'need'; kept: number; got: number }
  | { t: 'workflow'; reference: { name: string } | { scriptPath: string } }
  | { t: 'deps'; deps: string[]; cwd: string | null }
  | { t: 'end'; kind: 'done'; hasResult: boolean; result?: unknown }
  | { t: 'end'; kind: 'fail'; error: SandboxError };

export interface SandboxError {
  code: string;
  name: string;
  message: string;
  stack: string;
  /** The script whose stack it is. */
  filename: string;
  /** False when something else than an error was thrown. */
  isError?: boolean;
  /** It is the outcome of a call, which is counted as such. */
  ofCall?: boolean;
  /** The error of the child workflow that this one tells of. */
  origin?: SandboxError;
  cause?: SandboxError;
}
