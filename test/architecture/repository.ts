/** The repository as the rules see it: its files, and what a source file imports. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** Files that git holds or would take, as paths from the root; without git everything but what is made. */
export function listFiles(): string[] {
  let names: string[];
  try {
    const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    names = listing.split('\0').filter(Boolean);
  } catch {
    const made = /^(node_modules|dist|\.build|\.git|coverage|\.claude\/workflow-runs)(\/|$)/;
    names = (readdirSync(ROOT, { recursive: true }) as string[]).filter((name) => !made.test(name));
  }
  return names.filter((name) => statSync(join(ROOT, name), { throwIfNoEntry: false })?.isFile()).sort();
}

export const readText = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const sourceFiles = (): string[] => listFiles().filter((file) => /^src\/.*\.ts$/.test(file));

export interface Import {
  /** As written. */
  specifier: string;
  /** Path from the root for a file of this repository, `undefined` for packages and Node's own modules. */
  target: string | undefined;
  typeOnly: boolean;
  /** Between the braces. */
  names: string[];
}

/**
 * Imports, re-exports and `import()` of a source text. By patterns, not by a parser: Biome keeps the texts in one form,
 * and the compiler's own is not to be had for TypeScript 7.
 */
export function importsOf(file: string, text = readText(file)): Import[] {
  const code = withoutComments(text);
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean, clause = ''): void => {
    const path = specifier.replace(/\.js$/, '.ts');
    const target = specifier.startsWith('.')
      ? normalize(join(dirname(file), path))
          .split(sep)
          .join('/')
      : undefined;
    const names = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
    const split = names.split(',').map((name) => name.trim().split(/\s+as\s+/)[0] ?? '');
    const allTypes = split.length > 0 && split.every((name) => name.startsWith('type ') || name === '') && names !== '';
    found.push({ specifier, target, typeOnly: typeOnly || allTypes, names: split.filter(Boolean) });
  };
  for (const match of code.matchAll(/^(?:import|export)\s+(type\s)?([^'";]*?)\s*from\s*['"]([^'"]+)['"]/gm)) {
    add(match[3] as string, match[1] !== undefined, match[2]);
  }
  for (const match of code.matchAll(/^import\s*['"]([^'"]+)['"]/gm)) add(match[1] as string, false);
  for (const match of code.matchAll(/(typeof\s+)?\b(?:import|require)\(\s*['"]([^'"]+)['"]/g)) {
    add(match[2] as string, match[1] !== undefined);
  }
  return found;
}

/** Blanks comments; keeps strings and line numbers. Good for texts in which no string holds a comment's beginning at a line's start. */
export function withoutComments(text: string): string {
  return text
    .replace(/^(\s*)\/\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/[^\n]*/g, '$1');
}

/** Also blanks what stands between quotes, on one line. */
export const withoutStrings = (text: string): string =>
  withoutComments(text).replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");

/** Line numbers (from 1) at which a pattern stands. */
export function linesWith(text: string, pattern: RegExp): number[] {
  return text.split('\n').flatMap((line, i) => (pattern.test(line) ? [i + 1] : []));
}
