/** Text is masked as it leaves: a secret that is parted or cut before would leave in halves, so no word is. */

/** Longer words are parted: nobody waits for ever for a text without white space. */
const LONGEST_WORD = 4_096;

/** @returns how much of the text may be told before more of it comes: up to the end of its last white space */
export function wholeWordsIn(text: string): number {
  const first = Math.max(0, text.length - LONGEST_WORD);
  for (let end = text.length; end > first; end--) if (/\s/.test(text[end - 1] as string)) return end;
  return first === 0 ? 0 : text.length;
}

/** The start of a text that is longer, without a part of a word. */
export const startOf = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, wholeWordsIn(text.slice(0, most)))}…`;

/** The end of a text that is longer, without a part of a word. */
export function endOf(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  const space = end.search(/\s/);
  // Words that fill all of it are kept: something is to be told.
  return space === -1 || space > LONGEST_WORD ? end : end.slice(space);
}
