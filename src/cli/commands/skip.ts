import { skipCall } from '../../index.js';
import { cleanLine } from '../../report/clean-line.js';

/** `wf skip`: one call of a live run gets no answer. */
export async function skip(id: string, call: string, flags: { json?: boolean; runsDir?: string }): Promise<number> {
  const report = await skipCall(id, call, { runsDir: flags.runsDir });
  const what = report.was === 'running' ? 'is being ended' : 'was waiting for its turn';
  const text = `Skipped #${report.n} ${cleanLine(report.label, 80)}: it ${what}, and the script gets null for it.\n`;
  process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : text);
  return 0;
}
