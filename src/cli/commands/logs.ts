import { readRunEvents } from '../../index.js';
import { describeEvent } from '../../report/describe-event.js';
import { plainPaint } from '../../report/paint.js';
import { printToStdout } from '../print-lines.js';

interface LogsFlags {
  follow?: boolean;
  json?: boolean;
  runsDir?: string;
}

/** `wf logs`: what is recorded of a run, line by line, from its files only. */
export async function logs(id: string, flags: LogsFlags): Promise<number> {
  const { signal, print } = printToStdout();
  const events = readRunEvents(id, { follow: flags.follow, signal, runsDir: flags.runsDir });
  let count = 0;
  for await (const { text, event } of events) {
    if (event === undefined && !flags.json) continue;
    count++;
    await print(flags.json || !event ? `${text}\n` : `${event.t.slice(0, 19)}Z ${describeEvent(event, plainPaint)}\n`);
  }
  if (count === 0) process.stderr.write('wf: no events of this run are recorded.\n');
  return 0;
}
