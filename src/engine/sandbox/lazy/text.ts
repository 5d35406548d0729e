/** `TextEncoder` and `TextDecoder` for UTF-8 and UTF-16, by the rules of the Encoding Standard. */
import { decodeUtf16, decodeUtf8, encodeUtf8, type Decoded } from './text-codecs.js';
import { supply } from './supply.js';

class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(text: unknown = ''): Uint8Array {
    return Uint8Array.from(encodeUtf8(String(text)));
  }

  encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = encodeUtf8(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      read += character.length;
      written += bytes.length;
    }
    return { read, written };
  }
}

const DECODERS: Record<string, { name: string; decode(bytes: Uint8Array, isLast: boolean): Decoded }> = {};
for (const label of ['utf-8', 'utf8', 'unicode-1-1-utf-8']) DECODERS[label] = { name: 'utf-8', decode: decodeUtf8 };
for (const label of ['utf-16le', 'utf-16', 'ucs-2'])
  DECODERS[label] = { name: 'utf-16le', decode: (bytes, isLast) => decodeUtf16(bytes, isLast, true) };
DECODERS['utf-16be'] = { name: 'utf-16be', decode: (bytes, isLast) => decodeUtf16(bytes, isLast, false) };

class TextDecoder {
  readonly #decoder: (typeof DECODERS)[string];
  readonly #fatal: boolean;
  readonly #ignoreBOM: boolean;
  #rest: number[] = [];
  #begun = false;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const decoder = DECODERS[String(label).trim().toLowerCase()];
    if (!decoder) throw new RangeError(`The encoding ${String(label)} is not supported: use utf-8 or utf-16le.`);
    this.#decoder = decoder;
    this.#fatal = Boolean(options.fatal);
    this.#ignoreBOM = Boolean(options.ignoreBOM);
  }

  get encoding(): string {
    return this.#decoder.name;
  }

  get fatal(): boolean {
    return this.#fatal;
  }

  get ignoreBOM(): boolean {
    return this.#ignoreBOM;
  }

  decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: boolean } = {}): string {
    const isLast = !options.stream;
    const given = input === undefined ? new Uint8Array() : bytesOf(input);
    const bytes = this.#rest.length === 0 ? given : Uint8Array.from([...this.#rest, ...given]);
    const { text, faults, rest } = this.#decoder.decode(bytes, isLast);
    const begun = this.#begun;
    this.#rest = isLast ? [] : rest;
    this.#begun = !isLast && (begun || text !== '');
    if (this.#fatal && faults > 0) throw new TypeError(`The bytes are not valid ${this.encoding}.`);
    return !this.#ignoreBOM && !begun && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

function bytesOf(input: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  return new Uint8Array(input);
}

supply({ TextEncoder, TextDecoder });
