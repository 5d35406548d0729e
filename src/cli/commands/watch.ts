import { type RunEvent, watchRun } from '../../index.js';
import { cleanLine } from '../../report/clean-line.js';
import { loadPaint } from '../../report/paint.js';
import { createPlainReporter } from '../../report/plain.js';
import { systemReportClock } from '../../report/report-clock.js';
import { oneLine } from '../../shared/one-line.js';
import { resumeCommandOf } from '../../shared/resume-command.js';
import { useColors } from '../use-colors.js';
import { printToStdout } from '../print-lines.js';

/** `wf watch`: the plain account of a run that another process holds, to its end. Its exit code is that of the run. */
export async function watch(id: string, flags: { json?: boolean; runsDir?: string }): Promise<number> {
  const { signal, print } = printToStdout();
  const show = flags.json ? undefined : await makeAccount((text) => void print(text));
  const end = await watchRun(
    id,
    (event, isPast, text) =>
      show === undefined ? void print(`${text ?? JSON.stringify(event)}\n`) : show.event(event, isPast),
    { runsDir: flags.runsDir, signal, ...(show === undefined ? {} : { onPresent: show.present }) },
  );
  show?.close();
  if (signal.aborted) return 0;
  if (end.reason !== undefined) {
    const next =
      end.noResume === undefined
        ? `To go on: ${resumeCommandOf(end.runId, flags.runsDir)}`
        : `No resume can go on from it: ${cleanLine(end.noResume, 500)}`;
    process.stderr.write(
      `wf: run ${end.runId} is ${end.status}: no end is recorded, and ${oneLine(end.reason)}.\n  → ${next}\n`,
    );
  }
  return end.exitCode;
}

/** The plain reporter, told of the past without printing it, so that its counts and its summary are those of the run. */
async function makeAccount(print: (text: string) => void) {
  let isMuted = true;
  let past: number | undefined;
  let beat: (() => void) | undefined;
  const reporter = createPlainReporter({
    write: (text) => {
      if (!isMuted) print(text);
    },
    paint: await loadPaint(useColors(process.stdout)),
    clock: {
      now: systemReportClock.now,
      // The time of an event that is past is its own, so that how long a call has been silent is right.
      monotonic: () => past ?? Date.now(),
      every(ms, tick) {
        beat = tick;
        return systemReportClock.every(ms, tick);
      },
    },
  });
  return {
    event(event: RunEvent, isPast: boolean): void {
      past = isPast ? Date.parse(event.t) : undefined;
      isMuted = isPast && event.type !== 'run.started' && event.type !== 'run.finished';
      reporter.event(event);
      past = undefined;
      isMuted = false;
    },
    /** Everything until now is told: where the run stands. */
    present: (): void => beat?.(),
    close: (): void => void reporter.close?.(),
  };
}
