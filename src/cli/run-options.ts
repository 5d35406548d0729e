import { readFileSync } from 'node:fs';
import { parseCommandLine, type RunWorkflowOptions } from '../index.js';
import { EFFORTS, PERMISSIONS } from '../shared/agent-options.js';
import { messageOf, WfError } from '../shared/errors.js';
import { isNewRunId } from '../shared/ids.js';
import type { RunFlags } from './commands/run-flags.js';
import { readArgs } from './read-args.js';
import {
  orNone,
  readChoice,
  readCount,
  readDollars,
  readDuration,
  readMegabytes,
  readTokens,
} from '../shared/read-values.js';

/** The library's options for one command line. */
export function readRunOptions(script: string | undefined, flags: RunFlags): RunWorkflowOptions {
  const args = readArgs(flags);
  if (flags.runId !== undefined && !isNewRunId(flags.runId)) {
    throw new WfError(
      'WF_RUN_ID',
      `--run-id takes a UUID version 4 in lower case; got ${JSON.stringify(flags.runId.slice(0, 80))}.`,
    );
  }
  if (flags.dryRun && flags.backend !== undefined && flags.backend !== 'mock') {
    throw new WfError('WF_USAGE', '--dry-run runs on mock; it cannot be given together with another --backend.');
  }
  const backend = flags.dryRun ? 'mock' : flags.backend;
  return {
    ...(script === '-' ? { source: { text: readStdin(), filename: 'stdin.js' } } : { script }),
    resumeFrom: flags.resumeFrom,
    match: readChoice('--match', flags.match, ['content', 'prefix']),
    strict: flags.strict,
    fork: flags.fork,
    runId: flags.runId,
    args: args?.value,
    hasArgs: args === undefined ? undefined : true,
    backend,
    command: flags.command === undefined ? undefined : parseCommandLine(flags.command),
    mock: flags.mock,
    model: flags.model,
    effort: readChoice('--effort', flags.effort, EFFORTS),
    permission: readChoice('--permission', flags.permission, PERMISSIONS),
    concurrency: readCount('--concurrency', flags.concurrency),
    maxAgents: readCount('--max-agents', flags.maxAgents),
    budgetTokens: orNone(readTokens, '--budget', flags.budget),
    budgetUsd: orNone(readDollars, '--budget-usd', flags.budgetUsd),
    minFreeMemMb: orNone(readMegabytes, '--min-free-mem', flags.minFreeMem),
    timeoutMs: orNone(readDuration, '--timeout', flags.timeout),
    idleTimeoutMs: orNone(readDuration, '--idle-timeout', flags.idleTimeout),
    retries: readCount('--retries', flags.retries),
    turnTimeoutMs: readDuration('--turn-timeout', flags.turnTimeout),
    memoryMb: readMegabytes('--memory', flags.memory),
    runsDir: flags.runsDir,
    record: flags.record,
    keep: readCount('--keep', flags.keep),
    fsync: readChoice('--fsync', flags.fsync, ['group', 'each']),
    allowFailures: flags.allowFailures,
  };
}

function readStdin(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch (error) {
    throw new WfError('WF_SCRIPT_NOT_FOUND', `The script on stdin cannot be read: ${messageOf(error)}.`);
  }
}
