/** The processes that a run recorded as it started them, or when it could not end them, from its events. */
import { join } from 'node:path';
import * as z from 'zod';
import { isProcessAlive } from '../shared/process-info.js';
import { readRegularFile } from '../shared/regular-file.js';
import { isOfThisMachine } from './owner.js';
import { EVENTS_FILE } from './runs-folder.js';

const lineSchema = z.looseObject({
  type: z.literal('process.started'),
  role: z.enum(['agent', 'sandbox']),
  pid: z.number().int().positive(),
  startTime: z.string().min(1),
});

const leftSchema = lineSchema.extend({
  type: z.literal('process.left'),
  host: z.string(),
  bootId: z.string().nullable(),
  pidNamespace: z.string().nullable(),
});

export interface StartedProcess {
  role: 'agent' | 'sandbox' | 'guard';
  pid: number;
  startTime: string;
}

/** None where there is no account of events; a torn line names nobody. */
export function readStartedProcesses(folder: string): StartedProcess[] {
  return readLines(folder, '"process.started"', lineSchema).map(({ role, pid, startTime }) => ({
    role,
    pid,
    startTime,
  }));
}

/** Processes that a run could not end and that are alive, whatever became of the run. Seen from elsewhere their numbers mean nothing. */
export const findLeftProcesses = (folder: string): StartedProcess[] =>
  readLines(folder, '"process.left"', leftSchema).filter(
    (left) => isOfThisMachine(left) && isProcessAlive(left.pid, left.startTime),
  );

function readLines<T>(folder: string, mark: string, schema: z.ZodType<T>): T[] {
  const text = readText(join(folder, EVENTS_FILE));
  if (!text.includes(mark)) return [];
  return text.split('\n').flatMap((line) => {
    const parsed = line.includes(mark) ? schema.safeParse(parse(line)) : undefined;
    return parsed?.success ? [parsed.data] : [];
  });
}

function readText(file: string): string {
  try {
    return readRegularFile(file);
  } catch {
    return '';
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
