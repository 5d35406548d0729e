/** `wf run`: stdout carries the result and nothing else, stderr what happens. */
import { type RunEvent, type RunHandle, startWorkflow } from '../../index.js';
import { createReporters } from '../../report/create-reporter.js';
import { ownerOfStderr, parseReporterSpec } from '../../report/reporter-spec.js';
import { writeToStream } from '../../report/write-text.js';
import { EXIT, WfError } from '../../shared/errors.js';
import { checkOutput, deliverResult, isDeliveredFirst } from '../deliver-result.js';
import { handleSignals } from '../handle-signals.js';
import { type HeldOutput, holdOutput } from '../hold-output.js';
import { readConfirm } from '../confirm.js';
import { readDuration } from '../../shared/read-values.js';
import { type RunFlags, readRunOptions } from '../run-options.js';
import { describeError, describeErrorEvent } from '../show-error.js';
import { useColors } from '../use-colors.js';

const DRAIN_MS = 300_000;
/** As PID 1 of a container the service manager gives 10 s. */
const DRAIN_AS_INIT_MS = 8_000;

export async function run(script: string | undefined, flags: RunFlags): Promise<number> {
  if (flags.plan) return (await import('./plan.js')).plan(script, { ...flags, json: flags.reporter?.includes('json') });
  const output = holdOutput(writeToStream(process.stderr));
  // With a machine's format on stderr nothing else may be written there.
  const owner = ownerOfStderr((flags.reporter ?? []).map(parseReporterSpec))?.name;
  try {
    return await execute(script, flags, output, owner);
  } catch (error) {
    if (!WfError.is(error)) throw error;
    tellError(error, flags, output, owner);
    return error.exitCode;
  }
}

function tellError(error: WfError, flags: RunFlags, output: HeldOutput, owner: string | undefined): void {
  output.write(owner === undefined ? describeError(error, flags.verbose === true) : describeErrorEvent(error));
}

/** @param owner the reporter whose format alone may stand on stderr */
async function execute(
  script: string | undefined,
  flags: RunFlags,
  output: HeldOutput,
  owner: string | undefined,
): Promise<number> {
  const options = readRunOptions(script, flags);
  if (flags.output !== undefined) checkOutput(flags.output);
  const confirm = readConfirm(flags.confirmAbove, output, owner);
  const drainMs =
    readDuration('--drain', flags.drain === 'auto' ? undefined : flags.drain) ??
    (process.pid === 1 ? DRAIN_AS_INIT_MS : DRAIN_MS);
  process.stdout.on('error', () => {});
  const stepSummary = process.env.GITHUB_STEP_SUMMARY;
  const reporter = await createReporters(flags.reporter ?? ['plain'], {
    write: output.write,
    colors: useColors(process.stderr),
    quiet: flags.quiet === true,
    resultPlace: flags.output ?? 'stdout',
    ...(stepSummary === undefined ? {} : { stepSummary }),
  });
  let handle: RunHandle | undefined;
  const start = new AbortController();
  const signals = handleSignals({
    giveUpStart: () => start.abort(),
    cancel: (exitCode) => handle?.cancel(exitCode) === true,
    drain: (ms, exitCode) => handle?.drain(ms, exitCode) === true,
    drainMs,
    say: (message) => {
      if (owner === undefined) output.writeNow(`wf: ${message}\n`);
    },
  });
  try {
    const isHeld = isDeliveredFirst(flags.output, owner !== undefined);
    let end: Extract<RunEvent, { type: 'run.finished' }> | undefined;
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'run.finished' && isHeld) end = event;
      else reporter.event(event);
      // Its outcome is recorded: a signal has nothing to end any more.
      if (event.type === 'run.finished') signals.ended();
    };
    handle = await startWorkflow({ ...options, confirm, drainMs, onEvent, startSignal: start.signal });
    signals.started();
    const result = await handle.done;
    const failure = await deliverResult(result, flags.output);
    const exitCode = failure === undefined ? result.exitCode : result.exitCode || EXIT.runFailed;
    if (end !== undefined) reporter.event(failure === undefined ? end : { ...end, exitCode, error: failure });
    return exitCode;
  } catch (error) {
    if (signals.gaveUpWith === undefined || !WfError.is(error)) throw error;
    tellError(error, flags, output, owner);
    return signals.gaveUpWith;
  } finally {
    await reporter.close?.();
    signals.ended();
  }
}
