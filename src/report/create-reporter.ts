/** From `--reporter` texts to one reporter. Each kind is loaded only when it is asked for. */
import { appendFileSync } from 'node:fs';
import type { Reporter } from '../engine/events.js';
import { combineReporters } from './guard-reporter.js';
import type { ReportClock } from './report-clock.js';
import { parseReporterSpec, planReporters, type ReporterSpec } from './reporter-spec.js';
import { guardWrite, openReportFile, type WriteText } from './write-text.js';

export interface ReporterOutputs {
  /** Writes to stderr. It may throw (EPIPE): then the printing ends and the run goes on. */
  write: WriteText;
  /** Colours on stderr; files never hold any. */
  colors?: boolean;
  /** Only trouble, on stderr. */
  quiet?: boolean;
  /** Where the caller puts the result: `stdout` or a file. */
  resultPlace?: string;
  /** The file named by `GITHUB_STEP_SUMMARY`. */
  stepSummary?: string;
  clock?: ReportClock;
  /** Told once for each output that can no longer be written. */
  onTrouble?: (message: string) => void;
}

/**
 * Makes the reporters of a run. Neither `event` nor `close` of the result ever throws.
 *
 * @param texts values of `--reporter`, each `name` or `name=file`
 * @throws WfError `WF_USAGE` for unknown names, two owners of one output, or a file that cannot be written
 * @example await createReporters(['plain', 'junit=report.xml'], { write: (text) => process.stderr.write(text) })
 */
export async function createReporters(texts: readonly string[], outputs: ReporterOutputs): Promise<Reporter> {
  const specs = planReporters(texts.map(parseReporterSpec));
  const reporters: Reporter[] = [];
  try {
    for (const spec of specs) reporters.push(await createReporter(spec, outputs));
  } catch (error) {
    for (const reporter of reporters) await reporter.close?.();
    throw error;
  }
  return combineReporters(reporters, outputs.onTrouble);
}

/**
 * Makes one reporter with its output.
 *
 * @throws WfError `WF_USAGE` when its file cannot be written
 */
async function createReporter(spec: ReporterSpec, outputs: ReporterOutputs): Promise<Reporter> {
  const file = spec.file === undefined ? undefined : openReportFile(spec.file);
  const write = guardWrite(file?.write ?? outputs.write, (message) =>
    outputs.onTrouble?.(`${spec.file ?? 'stderr'} cannot be written any more (${message}); the run goes on.`),
  );
  const reporter = await load(spec, write, outputs);
  return {
    event: (event) => reporter.event(event),
    async close() {
      await reporter.close?.();
      file?.close();
    },
  };
}

async function load(spec: ReporterSpec, write: WriteText, outputs: ReporterOutputs): Promise<Reporter> {
  switch (spec.name) {
    case 'plain': {
      const onStderr = spec.file === undefined;
      const [{ createPlainReporter }, { loadPaint }] = await Promise.all([import('./plain.js'), import('./paint.js')]);
      return createPlainReporter({
        write,
        paint: await loadPaint(onStderr && outputs.colors === true),
        quiet: onStderr && outputs.quiet === true,
        ...(outputs.resultPlace !== undefined && { resultPlace: outputs.resultPlace }),
        ...(outputs.clock && { clock: outputs.clock }),
      });
    }
    case 'jsonl':
      return (await import('./jsonl.js')).createJsonlReporter({ write });
    case 'json':
      return (await import('./json.js')).createJsonReporter({ write });
    case 'junit':
      return (await import('./junit.js')).createJunitReporter({ write });
    case 'github': {
      const { stepSummary, onTrouble } = outputs;
      const { createGithubReporter } = await import('./github.js');
      const writeSummary = stepSummary ? guardWrite((text) => appendFileSync(stepSummary, text), onTrouble) : undefined;
      return createGithubReporter({ write, writeSummary });
    }
  }
}
