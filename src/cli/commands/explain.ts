import { explainRun } from '../../index.js';
import { cleanLine } from '../../report/clean-line.js';

export async function explain(
  id: string,
  call: string | undefined,
  flags: { json?: boolean; runsDir?: string },
): Promise<number> {
  const calls = explainRun(id, call, { runsDir: flags.runsDir });
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(calls, null, 2)}\n`);
    return 0;
  }
  const live = calls.filter((item) => item.decision === 'live');
  let text = `${calls.length - live.length} reused, ${live.length} ran live\n`;
  for (const item of call === undefined ? live : calls) {
    text += `  ${`#${item.n}`.padEnd(6)} ${item.decision.padEnd(5)} ${cleanLine(item.label, 60).padEnd(30)} ${cleanLine(item.reason, 300)}\n`;
  }
  process.stdout.write(text);
  return 0;
}
