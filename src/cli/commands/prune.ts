import { pruneOldRuns } from '../../index.js';
import { cleanLine } from '../../report/clean-line.js';
import { oneLine } from '../../shared/one-line.js';
import { readCount } from '../../shared/read-values.js';

export async function prune(flags: {
  keep?: string;
  dryRun?: boolean;
  json?: boolean;
  runsDir?: string;
}): Promise<number> {
  const keep = readCount('--keep', flags.keep);
  const report = await pruneOldRuns({ keep, dryRun: flags.dryRun, runsDir: flags.runsDir });
  if (flags.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const word = flags.dryRun ? 'would remove' : 'removed';
    for (const run of report.removed) {
      process.stdout.write(
        `${word} ${run.runId} (${cleanLine(run.workflow)})${run.resumable ? ', which could have been resumed' : ''}\n`,
      );
    }
    const stay = flags.dryRun ? 'would stay' : report.kept === 1 ? 'stays' : 'stay';
    process.stdout.write(`${word} ${report.removed.length}; ${report.kept} ${stay}.\n`);
  }
  for (const warning of report.warnings) process.stderr.write(`wf: ${oneLine(warning)}\n`);
  return 0;
}
