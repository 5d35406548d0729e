/** What ends a line, moves a cursor, colours a terminal or turns the direction of writing. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to show
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/;
const EACH = new RegExp(UNSEEN, 'g');

/** Whether a text holds anything that must not reach a line of a terminal as it is. */
export const hasUnseen = (text: string): boolean => UNSEEN.test(text);

/**
 * A text of which nothing is left out, on one line: `\n`, `\x1b` or `\u202e` stand for what would break it.
 *
 * @param kept characters that stay as they are, such as the line ends of a text of several lines
 */
export const oneLine = (text: string, kept = ''): string =>
  hasUnseen(text) ? text.replace(EACH, (found) => (kept.includes(found) ? found : describe(found))) : text;

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function describe(character: string): string {
  const code = character.charCodeAt(0);
  return (
    NAMED[character] ??
    (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`)
  );
}
