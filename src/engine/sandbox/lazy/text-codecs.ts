/** Bytes to text and back. What is no character becomes U+FFFD and is counted. */
export interface Decoded {
  text: string;
  faults: number;
  /** Bytes of a character that the next piece may complete. */
  rest: number[];
}

const REPLACEMENT = '\ufffd';

export function encodeUtf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    let code = character.codePointAt(0) as number;
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(code));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(code >> 6), tail(code));
    else bytes.push(0xf0 | (code >> 18), tail(code >> 12), tail(code >> 6), tail(code));
  }
  return bytes;
}

const tail = (bits: number): number => 0x80 | (bits & 0x3f);

/** A lead byte: how many bytes follow, its own bits, and the range of the next byte, which shuts out overlong forms. */
function leadOf(byte: number): { more: number; bits: number; from: number; to: number } | undefined {
  if (byte >= 0xc2 && byte <= 0xdf) return { more: 1, bits: byte & 0x1f, from: 0x80, to: 0xbf };
  if (byte >= 0xe0 && byte <= 0xef)
    return { more: 2, bits: byte & 0x0f, from: byte === 0xe0 ? 0xa0 : 0x80, to: byte === 0xed ? 0x9f : 0xbf };
  if (byte >= 0xf0 && byte <= 0xf4)
    return { more: 3, bits: byte & 0x07, from: byte === 0xf0 ? 0x90 : 0x80, to: byte === 0xf4 ? 0x8f : 0xbf };
  return undefined;
}

export function decodeUtf8(bytes: Uint8Array, isLast: boolean): Decoded {
  let text = '';
  let faults = 0;
  for (let i = 0; i < bytes.length; ) {
    const byte = bytes[i] as number;
    if (byte < 0x80) {
      text += String.fromCharCode(byte);
      i++;
      continue;
    }
    const lead = leadOf(byte);
    let code = lead?.bits ?? 0;
    let seen = 1;
    for (; lead && seen <= lead.more; seen++) {
      const next = bytes[i + seen];
      if (next === undefined && !isLast) return { text, faults, rest: [...bytes.subarray(i)] };
      const [from, to] = seen === 1 ? [lead.from, lead.to] : [0x80, 0xbf];
      if (next === undefined || next < from || next > to) break;
      code = (code << 6) | (next & 0x3f);
    }
    const isWhole = lead !== undefined && seen > lead.more;
    text += isWhole ? String.fromCodePoint(code) : REPLACEMENT;
    if (!isWhole) faults++;
    i += seen;
  }
  return { text, faults, rest: [] };
}

export function decodeUtf16(bytes: Uint8Array, isLast: boolean, littleEndian: boolean): Decoded {
  let text = '';
  const whole = bytes.length - (bytes.length % 2);
  for (let i = 0; i < whole; i += 2) {
    const [low, high] = littleEndian ? [bytes[i], bytes[i + 1]] : [bytes[i + 1], bytes[i]];
    text += String.fromCharCode((low as number) | ((high as number) << 8));
  }
  const last = text.charCodeAt(text.length - 1);
  const isTorn = last >= 0xd800 && last <= 0xdbff;
  if (!isLast) {
    const from = isTorn ? whole - 2 : whole;
    return { ...mend(isTorn ? text.slice(0, -1) : text), rest: [...bytes.subarray(from)] };
  }
  const mended = mend(text);
  const cut = whole < bytes.length ? 1 : 0;
  return { text: mended.text + REPLACEMENT.repeat(cut), faults: mended.faults + cut, rest: [] };
}

/** Replaces surrogates that stand alone. */
function mend(text: string): { text: string; faults: number } {
  let faults = 0;
  const mended = text.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (unit) => {
    if (unit.length === 2) return unit;
    faults++;
    return REPLACEMENT;
  });
  return { text: mended, faults };
}
