/**
 * The messages of an agent's stdout, as the SDK wants them. Lines that are no messages are noted and passed over: some
 * agents greet people there. Updates of the session are not given to the SDK but handed on at once, in order: one of a
 * kind that is newer than the SDK would be printed on our stderr by it, and the last words of a turn must come before its end.
 */
import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { startOf } from '../whole-words.js';
import { asObject } from './read-usage.js';

type Json = Readonly<Record<string, unknown>>;

export interface MessageStream {
  readonly stream: Stream;
  /** The first line that was no message, shortened. */
  readonly noise: string | undefined;
  /** Why no more messages are taken, when that is the agent's fault. */
  readonly fault: string | undefined;
  /** Ends the reading, as when the agent's process is gone but something of it holds the pipe. */
  close(): void;
}

/** Bytes of one message. */
const MAX_LINE = 64 << 20;
/** Bytes of lines that are no messages, in a row. */
const MAX_NOISE = 4 << 20;
const MAX_SHOWN = 300;

/** @param onUpdate gets the params of each `session/update` */
export function openMessageStream(stdout: Readable, stdin: Writable, onUpdate: (params: Json) => void): MessageStream {
  const open = new Set<number>();
  let noise: string | undefined;
  let noiseBytes = 0;
  let fault: string | undefined;
  let controller: ReadableStreamDefaultController<AnyMessage> | undefined;

  const close = (): void => {
    try {
      controller?.close();
    } catch {
      // The SDK has let go of it already.
    }
    controller = undefined;
  };
  const fail = (why: string): void => {
    fault ??= why;
    close();
  };
  const noteNoise = (text: string): void => {
    noise ??= startOf(text, MAX_SHOWN);
    noiseBytes += text.length;
    if (noiseBytes > MAX_NOISE) fail('it writes what is no message of the protocol');
  };
  const takeUpdate = (params: Json, text: string): void => {
    try {
      onUpdate(params);
    } catch {
      // Of another shape than is known. It is read in a stream's handler, where an error would end the engine.
      noteNoise(text);
    }
  };
  const takeLine = (line: Buffer): void => {
    const text = line.toString('utf8').trim();
    if (text === '' || controller === undefined) return;
    const message = parse(text);
    if (message?.jsonrpc !== '2.0') return noteNoise(text);
    noiseBytes = 0;
    if (message.method === 'session/update') takeUpdate(asObject(message.params) ?? {}, text);
    else if (isForSdk(message, open)) controller.enqueue(message as AnyMessage);
  };

  const lines = createLineSplitter(takeLine, () => fail(`a message is larger than ${MAX_LINE} bytes`));
  const readable = new ReadableStream<AnyMessage>({
    start(its) {
      controller = its;
      stdout.on('data', lines);
      stdout.once('close', close);
    },
    cancel() {
      controller = undefined;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ('method' in message && 'id' in message) open.add(message.id as number);
      // What becomes of an agent that does not read is told by its end.
      return new Promise((done) => stdin.write(`${JSON.stringify(message)}\n`, () => done()));
    },
  });
  return {
    stream: { readable, writable },
    get noise() {
      return noise;
    },
    get fault() {
      return fault;
    },
    close,
  };
}

/** Requests, and the answers to our own: the SDK prints a complaint about any other answer. */
function isForSdk(message: Json, open: Set<number>): boolean {
  if ('method' in message) return 'id' in message;
  return open.delete(message.id as number);
}

function parse(text: string): Json | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Memory is bounded by the longest line, and a long one is put together once. */
function createLineSplitter(onLine: (line: Buffer) => void, onTooLong: () => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let bytes = 0;
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      onLine(Buffer.concat([...pieces, chunk.subarray(start, end)]));
      pieces = [];
      bytes = 0;
      start = end + 1;
    }
    if (start === chunk.length) return;
    pieces.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes <= MAX_LINE) return;
    pieces = [];
    bytes = 0;
    onTooLong();
  };
}
