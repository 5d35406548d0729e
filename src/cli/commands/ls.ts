import { findPlaces } from '../../api/prepare-run.js';
import { listRuns, type RunSummary } from '../../index.js';
import { areTokensTold, formatDuration, formatTokens, formatUsd } from '../../report/format.js';
import { cleanLine } from '../../report/clean-line.js';
import { oneLine } from '../../shared/one-line.js';
import { RUN_STATUSES } from '../../shared/outcome.js';
import { showPath } from '../../shared/quote-word.js';
import { readChoice, readCount } from '../../shared/read-values.js';

interface LsFlags {
  limit?: string;
  status?: string;
  quiet?: boolean;
  json?: boolean;
  runsDir?: string;
}

/** `wf ls`: writes nothing, takes no lock, and never fails for one bad folder. */
export async function list(flags: LsFlags): Promise<number> {
  const limit = readCount('--limit', flags.limit);
  const status = readChoice('--status', flags.status, RUN_STATUSES);
  let isRead = true;
  const all = listRuns({ runsDir: flags.runsDir }, (message) => {
    isRead = false;
    process.stderr.write(`wf: ${oneLine(message)}\n`);
  });
  const runs = all.filter((run) => status === undefined || run.status === status).slice(0, limit ?? all.length);
  if (flags.json) process.stdout.write(`${JSON.stringify(runs, null, 2)}\n`);
  else if (flags.quiet) for (const run of runs) process.stdout.write(`${run.runId}\n`);
  else if (runs.length > 0) process.stdout.write(makeTable(runs, Date.now()));
  else if (all.length > 0) process.stdout.write(status === undefined ? '' : `No run is ${status}.\n`);
  // Of a folder that could not be read nobody knows what lies there.
  else if (isRead) process.stdout.write(noRuns(flags.runsDir));
  return 0;
}

const noRuns = (runsDir: string | undefined): string =>
  `No runs here yet: ${showPath(findPlaces({ runsDir }).runsFolder)} holds none. Start one with \`wf run <script>\`.\n`;

function statusOf(run: RunSummary): string {
  if (run.damaged !== undefined) return `${run.status}, damaged`;
  if (run.verdicts !== undefined) return `${run.status}, other engine`;
  return run.unsupported !== undefined ? 'not readable' : run.status;
}

const HEAD = ['RUN', 'WORKFLOW', 'STATUS', 'PHASE', 'OK', 'REUSED', 'FAILED', 'OPEN', 'TOKENS', 'COST', 'AGE'];

function makeTable(runs: readonly RunSummary[], now: number): string {
  const rows = runs.map((run) => [
    run.runId,
    cleanLine(run.workflow, 30) + (run.madeUp ? ' (mock)' : ''),
    statusOf(run),
    cleanLine(run.phase ?? '-', 20),
    String(run.counts.ok),
    String(run.counts.reused),
    String(run.counts.failed),
    String(run.counts.noResult),
    areTokensTold(run.usage) ? formatTokens(run.usage.outputTokens) : 'unknown',
    formatUsd(run.usage.usd),
    Number.isNaN(Date.parse(run.startedAt)) ? '-' : formatDuration(Math.max(0, now - Date.parse(run.startedAt))),
  ]);
  const widths = HEAD.map((head, i) => Math.max(head.length, ...rows.map((row) => (row[i] as string).length)));
  return [HEAD, ...rows]
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] as number))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
