import { hasUnseen } from './one-line.js';

/**
 * One word of a command that is copied into a shell as it is. What would break the line, or reach the terminal as more
 * than a character, is written as `$'…'`: bash, zsh, ksh and newer POSIX shells read that back as it was.
 *
 * @example quoteWord('my\nrun.js') // $'my\nrun.js'
 */
export function quoteWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!hasUnseen(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${[...text].map(escapeCharacter).join('')}'`;
}

/** A path among words for people: as it is, or where it cannot stand on one line, as a shell would take it. */
export const showPath = (path: string): string => (hasUnseen(path) ? quoteWord(path) : path);

const NAMED: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', "'": "\\'", '\\': '\\\\' };

function escapeCharacter(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  if (!hasUnseen(character)) return character;
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
