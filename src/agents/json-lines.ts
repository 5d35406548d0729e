/** Reads the JSON values that a program prints, one a line, as they come. */
import { StringDecoder } from 'node:string_decoder';

export interface JsonLines {
  push(chunk: Buffer): void;
  /** Reads a last line that has no line end. */
  end(): void;
}

/** Lines of an agent hold whole files at most; a longer one is no message, and is dropped. */
const MAX_LINE = 256 * 1024 * 1024;

/** @param onOther a line that is no JSON, or that could not be read */
export function createJsonLines(onValue: (value: unknown) => void, onOther: (line: string) => void): JsonLines {
  const decoder = new StringDecoder('utf8');
  // Pieces of a line without its end yet: joined once, however many there are.
  let pieces: string[] = [];
  let length = 0;

  const take = (line: string): void => {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return onOther(line);
    }
    try {
      onValue(value);
    } catch {
      // Of another shape than is known. It is read in a stream's handler, where an error would end the engine.
      onOther(line);
    }
  };
  const read = (text: string): void => {
    const lines = text.split('\n');
    const last = lines.pop() as string;
    for (const line of lines) {
      pieces.push(line);
      if (length <= MAX_LINE) take(pieces.join(''));
      pieces = [];
      length = 0;
    }
    length += last.length;
    if (length <= MAX_LINE) pieces.push(last);
    else pieces = [];
  };
  return {
    push: (chunk) => read(decoder.write(chunk)),
    end: () => read(`${decoder.end()}\n`),
  };
}
