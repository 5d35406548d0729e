/** Text is masked piece by piece: a secret in two pieces would leave unmasked, so none is parted within a word. */

/** Longer words are parted: nobody waits for ever for a text without white space. */
const LONGEST_WORD = 4_096;

/** @returns how much of the text may be told before more of it comes: up to the end of its last white space */
export function wholeWordsIn(text: string): number {
  const first = Math.max(0, text.length - LONGEST_WORD);
  for (let end = text.length; end > first; end--) if (/\s/.test(text[end - 1] as string)) return end;
  return first === 0 ? 0 : text.length;
}
