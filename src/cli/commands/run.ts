/** `wf run`: stdout carries the result and nothing else, stderr what happens. */
import { accessSync, constants, existsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type RunEvent, type RunHandle, type RunResult, startWorkflow } from '../../index.js';
import { createReporters } from '../../report/create-reporter.js';
import { ownerOfStderr, parseReporterSpec } from '../../report/reporter-spec.js';
import { writeToStream } from '../../report/write-text.js';
import { writeFileAtomic } from '../../shared/atomic-file.js';
import { messageOf, WfError } from '../../shared/errors.js';
import { handleSignals } from '../handle-signals.js';
import { type HeldOutput, holdOutput } from '../hold-output.js';
import { readConfirm } from '../confirm.js';
import { readDuration } from '../../shared/read-values.js';
import { type RunFlags, readRunOptions } from '../run-options.js';
import { describeError } from '../show-error.js';
import { useColors } from '../use-colors.js';
import { lstatIfThere, statIfThere } from '../../shared/stat-if-there.js';

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
  output.write(
    owner === undefined
      ? describeError(error, flags.verbose === true)
      : `${JSON.stringify({ t: new Date().toISOString(), type: 'error', ...error.toRecord(), remedy: error.remedy })}\n`,
  );
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
    const onEvent = (event: RunEvent): void => {
      reporter.event(event);
      // Its outcome is recorded: a signal has nothing to end any more.
      if (event.type === 'run.finished') signals.ended();
    };
    handle = await startWorkflow({ ...options, confirm, drainMs, onEvent, startSignal: start.signal });
    signals.started();
    return printResult(await handle.done, flags.output);
  } catch (error) {
    if (signals.gaveUpWith === undefined || !WfError.is(error)) throw error;
    tellError(error, flags, output, owner);
    return signals.gaveUpWith;
  } finally {
    await reporter.close?.();
    signals.ended();
  }
}

/** A string goes raw to stdout; anything else as JSON; no result leaves it empty. `--output` is always JSON. */
function printResult(result: RunResult, output: string | undefined): number {
  if (!('result' in result)) return result.exitCode;
  if (output !== undefined) {
    try {
      writeOutput(output, `${JSON.stringify(result.result, null, 2)}\n`);
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

/** Before anything is paid for. */
function checkOutput(path: string): void {
  if (path === '-') return;
  try {
    if (statIfThere(path)?.isDirectory()) throw new Error('it is a folder');
    const stat = lstatIfThere(path);
    if (stat === undefined || stat.isFile()) accessSync(dirname(path), constants.W_OK);
    else if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    throw new WfError('WF_USAGE', `--output ${path} cannot be written: ${messageOf(error)}.`, {
      remedy: 'Make its folder first, or name another file.',
    });
  }
}

/** A file is replaced whole; a device, a pipe or a link that stands there is written into and stays what it is. */
function writeOutput(path: string, text: string): void {
  if (path === '-') {
    process.stdout.write(text);
    return;
  }
  const stat = lstatIfThere(path);
  if (stat === undefined || stat.isFile()) writeFileAtomic(path, text, { mode: 0o644 });
  else writeFileSync(path, text);
}
