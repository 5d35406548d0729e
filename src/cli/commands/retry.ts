import { retryCall } from '../../index.js';
import { cleanLine } from '../../report/clean-line.js';

/** `wf retry`: one running call of a live run starts another attempt. */
export async function retry(id: string, call: string, flags: { json?: boolean; runsDir?: string }): Promise<number> {
  const report = await retryCall(id, call, { runsDir: flags.runsDir });
  const text = `Starting #${report.n} ${cleanLine(report.label, 80)} again: its present attempt is ended first.\n`;
  process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : text);
  return 0;
}
