import { type StopReport, stopRun } from '../../index.js';

interface StopFlags {
  drain?: boolean;
  wait?: boolean;
  json?: boolean;
  runsDir?: string;
}

/** `wf stop`: asks the owner of a run to end it, and waits for that. */
export async function stop(id: string, flags: StopFlags): Promise<number> {
  const report = await stopRun(id, { drain: flags.drain, wait: flags.wait, runsDir: flags.runsDir });
  process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  return 0;
}

function describe({ runId, requested, ended, status, counts, resumeCommand }: StopReport): string {
  if (!ended) return `Run ${runId}: ${requested} requested; it has not ended yet.\n`;
  const had = requested === null ? ' had ended before' : '';
  const facts = `${counts.ok} of ${counts.calls} calls gave an answer`;
  const goOn = resumeCommand === null ? '' : `To go on: ${resumeCommand}\n`;
  return `Run ${runId}${had}: ${status}, ${facts}.\n${goOn}`;
}
