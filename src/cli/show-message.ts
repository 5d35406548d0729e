/** The message of an error on a terminal: it may have several lines of its own, but none by the name of a file. */
import { basename } from 'node:path';
import { hasUnseen, oneLine } from '../shared/one-line.js';
import { showPath } from '../shared/quote-word.js';

/** @param file the file that the error is about */
export function showMessage(message: string, file?: string): string {
  if (!hasUnseen(message)) return message;
  let shown = message;
  for (const name of oddNames(file)) shown = shown.replaceAll(name, () => showPath(name));
  return oneLine(shown, '\n');
}

/** Names that messages may hold and that cannot stand on one line, the longest first. */
function oddNames(file: string | undefined): string[] {
  const words = process.argv.slice(2).map((word) => word.replace(/^--[\w-]+=/, ''));
  const names = [file ?? '', currentFolder(), ...words].flatMap((name) => [name, basename(name)]);
  return [...new Set(names)].filter(hasUnseen).sort((a, b) => b.length - a.length);
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}
