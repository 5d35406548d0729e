import { stripVTControlCharacters } from 'node:util';

/** Longest text of a line that holds words of scripts and agents. */
const MAX_LINE = 500;

/**
 * Makes foreign text (labels, logs, messages) fit for one line of a terminal or a log: no escape sequences, no control
 * characters, no change of writing direction, no line ends, at most `max` UTF-16 units with `…` for the rest.
 */
export function cleanLine(text: string, max = MAX_LINE): string {
  // Cut first, so that a text of megabytes costs no more than a short one.
  const clean = removeControls(text.slice(0, max * 4))
    .replace(/\s+/g, ' ')
    .trim();
  const whole = clean.length <= max && text.length <= max * 4;
  return whole ? clean : `${cutText(clean, max - 1)}…`;
}

/**
 * The lines of a code frame, their spaces kept; as safe as `cleanLine` and of bounded size. None begins with `::`, which
 * in a log on GitHub would be a command.
 */
export function cleanFrame(frame: string): string[] {
  return frame
    .slice(0, 8_000)
    .split('\n', 20)
    .map((line) =>
      cutText(removeControls(line), 200)
        .trimEnd()
        .replace(/^(\s*):(?=:)/, '$1: '),
    );
}

function removeControls(text: string): string {
  return (
    stripVTControlCharacters(text)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed here
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')
      .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
      .toWellFormed()
  );
}

/** The first `length` UTF-16 units, one less where a pair would be torn. */
function cutText(text: string, length: number): string {
  const head = text.slice(0, length);
  return /[\ud800-\udbff]$/.test(head) ? head.slice(0, -1) : head;
}
