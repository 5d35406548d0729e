/** Reads a command's stderr line by line: words for the engine (`{"wf":…}`), else progress for people. Memory is bounded. */
import { StringDecoder } from 'node:string_decoder';
import type { CallUsage } from '../../shared/outcome.js';
import type { AgentEvent, BackendErrorKind } from '../backend.js';
import { isErrorKind } from '../call-failure.js';
import { readResetTime } from '../reset-time.js';
import { readUsageLine, sumUsage } from '../usage-words.js';

/** What the program itself says of its failure: `{"wf":"error","kind":"rate_limit","retryAfterMs":1000,"message":"…"}`. */
export interface ToldFailure {
  kind: BackendErrorKind;
  message: string | undefined;
  retryAfterMs: number | undefined;
  resetsAt: string | undefined;
}

export interface StderrReader {
  push(chunk: Buffer): void;
  /** Reads a last line that has no line end. */
  end(): void;
  /** The last line for people that is not blank; empty when there was none. */
  readonly lastLine: string;
  /** Sum of all usage lines. */
  readonly usage: CallUsage | undefined;
  /** One of them told output tokens. */
  readonly tellsOutput: boolean;
  readonly failure: ToldFailure | undefined;
}

/** What goes beyond it in one line is dropped. It is more than is told of a text, so that what is told is masked whole. */
const MAX_LINE = 20_000;

/** @param onOddUsage told of each usage line that is not or not wholly understood */
export function createStderrReader(
  onEvent: (event: AgentEvent) => void,
  onOddUsage: (line: string) => void = () => {},
): StderrReader {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let lastLine = '';
  let lastError = '';
  let usage: CallUsage | undefined;
  let tellsOutput = false;
  let failure: ToldFailure | undefined;

  const readLine = (line: string): void => {
    const text = line.trimEnd();
    if (text === '') return;
    const words = readWords(text);
    if (words === undefined && /^\s*\{\s*"wf"\s*:\s*"usage"/.test(text)) onOddUsage(text);
    if (words?.wf === 'usage') {
      const told = readUsageLine(words);
      if (!told.isWhole) onOddUsage(text);
      if (told.usage === undefined) return;
      usage = sumUsage(usage, told.usage);
      tellsOutput ||= told.tellsOutput;
      // A line about tokens alone says nothing of money.
      delete usage?.usdPartial;
      if (usage) onEvent({ type: 'usage', usage });
    } else if (words?.wf === 'error' && isErrorKind(words.kind)) {
      const { kind, message, retryAfterMs, resetsAt } = words;
      failure = {
        kind,
        message: typeof message === 'string' ? message : undefined,
        retryAfterMs: typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined,
        resetsAt: readResetTime(resetsAt),
      };
    } else {
      const told = words?.wf === 'progress' && typeof words.text === 'string' ? words.text : text;
      onEvent({ type: 'progress', text: told });
      // A crash of Node ends with its version, behind the stack: the error itself is what a person wants to read.
      if (/^\w*Error\b.*: /.test(text)) lastError = text;
      lastLine = lastError !== '' && /^Node\.js v\d/.test(text) ? lastError : told;
    }
  };

  const read = (text: string): void => {
    // A progress bar goes back to the start of its line by \r alone.
    const lines = text.split(/\r\n|\n|\r/);
    lines[0] = (rest + lines[0]).slice(0, MAX_LINE);
    rest = (lines.pop() as string).slice(0, MAX_LINE);
    for (const line of lines) readLine(line);
  };

  return {
    push: (chunk) => read(decoder.write(chunk)),
    end() {
      read(`${decoder.end()}\n`);
    },
    get lastLine() {
      return lastLine;
    },
    get usage() {
      return usage;
    },
    get tellsOutput() {
      return tellsOutput;
    },
    get failure() {
      return failure;
    },
  };
}

function readWords(line: string): Record<string, unknown> | undefined {
  if (!/^\s*\{\s*"wf"\s*:/.test(line)) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
