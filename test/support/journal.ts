/**
 * A second, strict reader of `journal.jsonl`, written from the format's description and sharing no code with the
 * engine's: what one of them gets wrong, the other shows.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { TestProject } from './temp-project.js';
import { waitFor } from './wait.js';

export interface JournalLine {
  v: number;
  type: 'result' | 'hit' | 'timer' | 'script';
  seq?: number;
  n?: number;
  key?: string;
  path?: string | null;
  nth?: number;
  label?: string;
  phase?: string | null;
  kind?: 'ok' | 'failed' | 'skipped';
  output?: unknown;
  error?: { code: string; message: string };
  from?: string;
  kept?: number;
  of?: number;
  attempts?: number;
  sum: string;
  [field: string]: unknown;
}

/** Reads every line. @throws Error that names the line, for anything that is not exactly a sound journal. */
export function readJournal(file: string): JournalLine[] {
  const bytes = readFileSync(file);
  if (bytes.length > 0 && bytes.at(-1) !== 0x0a) throw new Error(`${file}: the last line has no newline`);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, i) => {
      const fault = faultOf(line);
      if (fault) throw new Error(`${file}:${i + 1}: ${fault}: ${line.slice(0, 200)}`);
      return JSON.parse(line) as JournalLine;
    });
}

/** Why a line (without its newline) is not a sound one, or `undefined`. */
export function faultOf(line: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return `not JSON (${(error as Error).message})`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not an object';
  const fields = value as Record<string, unknown>;
  if (typeof fields.v !== 'number') return 'no version';
  if (typeof fields.type !== 'string') return 'no type';
  if (Object.keys(fields).at(-1) !== 'sum') return 'sum is not the last field';
  const start = line.lastIndexOf(',"sum":');
  const expected = checksum(line.slice(0, start));
  return line.slice(start) === `,"sum":"${expected}"}` ? undefined : `wrong sum, ${expected} is right`;
}

/** A line with a right sum, newline included, for journals that a test writes. Fields stand in the order given. */
export function journalLine(fields: Record<string, unknown>): string {
  const { sum: _, ...rest } = fields;
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head},"sum":"${checksum(head)}"}\n`;
}

/** CRC-32 of the UTF-8 bytes, eight lower-case hex digits. */
export const checksum = (text: string): string => crc32(Buffer.from(text)).toString(16).padStart(8, '0');

/** The journal of a run; without an id that of the newest run folder. */
export function journalFile(project: TestProject, runId?: string): string | undefined {
  const id = runId ?? project.runIds().at(-1);
  return id === undefined ? undefined : join(project.runDir(id), 'journal.jsonl');
}

/** Resolves with the journal's path once it holds that many whole lines (of one type, if given). */
export function waitForJournalLines(
  project: TestProject,
  count: number,
  options: { runId?: string; type?: JournalLine['type']; timeoutMs?: number } = {},
): Promise<string> {
  const look = (): string | undefined => {
    const file = journalFile(project, options.runId);
    if (!file || !existsSync(file)) return undefined;
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const { type } = options;
    const counted = type ? lines.filter((line) => line.includes(`"type":"${type}"`)) : lines;
    return counted.length >= count ? file : undefined;
  };
  return waitFor(
    () =>
      `${count} ${options.type ?? ''} lines in a journal under ${project.runsDir}, which holds ${listing(project.runsDir)}`,
    look,
    options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs },
  );
}

const listing = (folder: string): string =>
  existsSync(folder) ? readdirSync(folder).join(' ') || 'nothing' : 'nothing';
