/** The processes that a run recorded as it started them, or when it could not end them, from its events. */
import * as z from 'zod';
import { readRegularFile } from '../../shared/regular-file.js';

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

/** With the place where its number means something. */
export type LeftOnRecord = z.infer<typeof leftSchema>;

export interface StartedProcess {
  role: 'agent' | 'sandbox' | 'guard';
  pid: number;
  startTime: string;
}

/** None where there is no account of events; a torn line names nobody. */
export function readStartedProcesses(file: string): StartedProcess[] {
  return readLines(file, '"process.started"', lineSchema).map(({ role, pid, startTime }) => ({ role, pid, startTime }));
}

/** Processes that a run could not end, whatever became of the run. */
export const readLeftProcesses = (file: string): LeftOnRecord[] => readLines(file, '"process.left"', leftSchema);

function readLines<T>(file: string, mark: string, schema: z.ZodType<T>): T[] {
  const text = readText(file);
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
