/** The processes that a run recorded as it started them, from its events. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const lineSchema = z.looseObject({
  type: z.literal('process.started'),
  role: z.enum(['agent', 'sandbox']),
  pid: z.number().int().positive(),
  startTime: z.string().min(1),
});

export interface StartedProcess {
  role: 'agent' | 'sandbox' | 'guard';
  pid: number;
  startTime: string;
}

/** None where there is no account of events; a torn line names nobody. */
export function readStartedProcesses(file: string): StartedProcess[] {
  const found: StartedProcess[] = [];
  for (const line of readText(file).split('\n')) {
    if (!line.includes('"process.started"')) continue;
    const parsed = lineSchema.safeParse(parse(line));
    if (parsed.success) found.push({ role: parsed.data.role, pid: parsed.data.pid, startTime: parsed.data.startTime });
  }
  return found;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
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
