/** Runs scripts by the built command and gives what they returned and what was told. One script holds many probes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent } from '../../../src/engine/events.js';
import { type JournalLine, readJournal } from '../../support/journal.js';
import { runWf, type WfOptions } from '../../support/run-wf.js';
import type { TestProject } from '../../support/temp-project.js';

export const META = "export const meta = { name: 'probe', description: 'Probes of the dialect.' }\n";

/**
 * `await probe('name', () => …)` puts what the function gives into `out.name`, or what it throws as
 * `{ thrown: name, code, message }`. Stands on the line of meta, so that the body begins on line 2.
 */
export const PROBE =
  'const out = {}; const probe = async (name, work) => { try { out[name] = await work() } catch (e) { out[name] = { thrown: e?.name, code: e?.code, message: e?.message ?? String(e), line: e?.line, column: e?.column } } };';

export interface ScriptRun {
  code: number | null;
  /** What the script returned; undefined when stdout is empty. */
  result: unknown;
  stdout: string;
  stderr: string;
  events: RunEvent[];
  runId: string;
  folder: string;
  /** Of `state.json`. */
  state: Record<string, unknown> & { counts: Record<string, number>; error?: Record<string, unknown> };
  journal: JournalLine[];
  /** Text of `log` and `warning` events: `warn: …`, `WF_CODE: …`. */
  told: string[];
}

export interface ScriptOptions extends Omit<WfOptions, 'project'> {
  flags?: readonly string[];
  /** Rules of the mock backend; without them answers are made up. */
  rules?: readonly object[];
  /** File name in the project; default `probe.js`. */
  file?: string;
  /** The flags name the backend. */
  otherBackend?: boolean;
}

/** Runs a body of probes; it needs no `return`: the table of their results is returned. */
export async function runProbes<Table = Record<string, unknown>>(
  project: TestProject,
  body: string,
  options: ScriptOptions = {},
): Promise<ScriptRun & { table: Table }> {
  const run = await runScript(project, `${META.trimEnd()}; ${PROBE}\n${body}\nreturn out\n`, options);
  if (run.result === undefined) throw new Error(`The script returned nothing:\n${run.stderr}`);
  return { ...run, table: run.result as Table };
}

/** Runs a whole script (with its meta). */
export async function runScript(project: TestProject, source: string, options: ScriptOptions = {}): Promise<ScriptRun> {
  const { flags = [], rules, file = 'probe.js', otherBackend = false, ...how } = options;
  project.write(file, source);
  const mock = rules === undefined ? [] : ['--mock', project.write(`${file}.rules.json`, JSON.stringify(rules))];
  return runFile(project, file, [...(otherBackend ? [] : ['--backend', 'mock', ...mock]), ...flags], how);
}

/** `wf run` with exactly these words; the events are read from its stderr. */
export async function runFile(
  project: TestProject,
  file: string | undefined,
  flags: readonly string[],
  how: Omit<WfOptions, 'project'> = {},
): Promise<ScriptRun> {
  const words = ['run', ...(file === undefined ? [] : [file]), ...flags, '--reporter', 'jsonl'];
  const { code, stdout, stderr } = await runWf(words, { project, ...how });
  const events = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as RunEvent);
  const started = events.find((event) => event.type === 'run.started');
  if (started === undefined) throw new Error(`wf ${words.join(' ')} started no run (exit ${code}):\n${stderr}`);
  const state = JSON.parse(readFileSync(join(started.folder, 'state.json'), 'utf8')) as ScriptRun['state'];
  return {
    code,
    stdout,
    stderr,
    events,
    runId: started.runId,
    folder: started.folder,
    state,
    result: state.result,
    journal: readJournal(join(started.folder, 'journal.jsonl')),
    told: events.flatMap((event) => {
      if (event.type === 'log') return [`${event.level}: ${event.message}`];
      return event.type === 'warning' ? [`${event.code}: ${event.message}`] : [];
    }),
  };
}

/** The events of one type. */
export const eventsOf = <Type extends RunEvent['type']>(run: ScriptRun, type: Type) =>
  run.events.filter((event) => event.type === type) as Extract<RunEvent, { type: Type }>[];

/** Labels of the calls that were handed to the backend, in that order. */
export const dispatched = (run: ScriptRun): string[] =>
  eventsOf(run, 'call.started')
    .filter((event) => event.attempt === 1)
    .map((event) => event.label);

/** A thrown error as a probe tells it. */
export interface Thrown {
  thrown: string;
  code?: string;
  message: string;
  line?: number;
  column?: number;
}
