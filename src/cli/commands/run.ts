/** `wf run`: stdout carries the result and nothing else, stderr what happens. */
import { readFileSync } from 'node:fs';
import type { RunHandle, RunResult, RunWorkflowOptions } from '../../index.js';
import { parseCommandLine, startWorkflow } from '../../index.js';
import { createReporters } from '../../report/create-reporter.js';
import { ownerOfStderr, parseReporterSpec } from '../../report/reporter-spec.js';
import { writeToStream } from '../../report/write-text.js';
import { writeFileAtomic } from '../../shared/atomic-file.js';
import { messageOf, WfError } from '../../shared/errors.js';
import { isNewRunId } from '../../shared/ids.js';
import { handleSignals } from '../handle-signals.js';
import { readArgs } from '../read-args.js';
import { readChoice, readCount, readDuration, readMegabytes, readTokens } from '../read-values.js';
import { describeError } from '../show-error.js';
import type { RunFlags } from './run-flags.js';

const DRAIN_MS = 300_000;
/** As PID 1 of a container the service manager gives 10 s. */
const DRAIN_AS_INIT_MS = 8_000;

export async function run(script: string | undefined, flags: RunFlags): Promise<number> {
  if (flags.plan) return (await import('./plan.js')).plan(script, { ...flags, json: flags.reporter?.includes('json') });
  const options = readRunOptions(script, flags);
  const drainMs = readDuration('--drain', flags.drain) ?? (process.pid === 1 ? DRAIN_AS_INIT_MS : DRAIN_MS);
  const write = writeToStream(process.stderr);
  process.stdout.on('error', () => {});
  const stepSummary = process.env.GITHUB_STEP_SUMMARY;
  const reporter = await createReporters(flags.reporter ?? ['plain'], {
    write,
    colors: useColors(),
    quiet: flags.quiet === true,
    resultPlace: flags.output ?? 'stdout',
    ...(stepSummary === undefined ? {} : { stepSummary }),
  });
  // With a machine's format on stderr nothing else may be written there.
  const stderrOwned = ownerOfStderr((flags.reporter ?? []).map(parseReporterSpec)) !== undefined;
  let handle: RunHandle | undefined;
  const signals = handleSignals({
    cancel: () => handle?.cancel(),
    drain: (ms) => handle?.drain(ms),
    drainMs,
    say: (message) => {
      if (!stderrOwned) write(`wf: ${message}\n`);
    },
  });
  try {
    handle = await startWorkflow({ ...options, onEvent: (event) => reporter.event(event) });
    signals.started();
    const result = await handle.done;
    const exitCode = printResult(result, flags.output);
    await reporter.close?.();
    return signals.exitCode(exitCode);
  } catch (error) {
    await reporter.close?.();
    if (!WfError.is(error)) throw error;
    write(describeError(error, flags.verbose === true));
    return error.exitCode;
  } finally {
    signals.stop();
  }
}

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
  const backend = flags.dryRun
    ? 'mock'
    : (flags.backend ??
      (flags.command !== undefined ? 'command' : undefined) ??
      (flags.mock !== undefined ? 'mock' : undefined));
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
    effort: readChoice('--effort', flags.effort, ['low', 'medium', 'high', 'xhigh', 'max']),
    permission: readChoice('--permission', flags.permission, ['read', 'edit', 'full']),
    concurrency: readCount('--concurrency', flags.concurrency),
    maxAgents: readCount('--max-agents', flags.maxAgents),
    budgetTokens: readTokens('--budget', flags.budget),
    timeoutMs: readDuration('--timeout', flags.timeout),
    idleTimeoutMs: readDuration('--idle-timeout', flags.idleTimeout),
    retries: readCount('--retries', flags.retries),
    turnTimeoutMs: readDuration('--turn-timeout', flags.turnTimeout),
    memoryMb: readMegabytes('--memory', flags.memory),
    runsDir: flags.runsDir,
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

/** A string goes raw to stdout; anything else as JSON; no result leaves it empty. `--output` is always JSON. */
function printResult(result: RunResult, output: string | undefined): number {
  if (!('result' in result)) return result.exitCode;
  if (output !== undefined) {
    try {
      writeFileAtomic(output, `${JSON.stringify(result.result, null, 2)}\n`, { mode: 0o644 });
      return result.exitCode;
    } catch (error) {
      process.stderr.write(
        `wf: the result cannot be written to ${output}: ${messageOf(error)}; it is in ${result.folder}/state.json\n`,
      );
      return result.exitCode === 0 ? 1 : result.exitCode;
    }
  }
  const text = typeof result.result === 'string' ? result.result : JSON.stringify(result.result, null, 2);
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  return result.exitCode;
}

function useColors(): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  return process.stderr.isTTY === true;
}
