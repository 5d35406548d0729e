/**
 * One life of a run: it is started, something happens to it at a known moment, it ends or is ended, and it is resumed
 * until it has a result. Then the disk, the ledger of the agents and the process table tell what that cost.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { idOf, readResult } from '../cli/support/runs.js';
import { type FakeBackend, makeFakeBackend } from '../support/fake-backend.js';
import type { JournalLine } from '../support/journal.js';
import { faultOf } from '../support/journal.js';
import { killMarked, processesMarked } from '../support/processes.js';
import { runWf, startWf, type WfHandle, type WfOptions } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';

const LABELS = ['A', 'B', 'C', 'D', 'E', 'F'] as const;
type Label = (typeof LABELS)[number];

const FLOW = `export const meta = { name: 'life', description: 'One after the other, side by side, in a child' }
phase('first')
const a = await agent('do A', { label: 'A' })
phase('wide')
const [b, c, d] = await parallel(['B', 'C', 'D'].map((name) => () => agent('do ' + name, { label: name })))
const e = await workflow('child')
phase('last')
const f = await agent('do F', { label: 'F' })
return { A: a, B: b, C: c, D: d, E: e, F: f }
`;
const CHILD = `export const meta = { name: 'child', description: 'One call' }
return await agent('do E', { label: 'E' })
`;

/** Where a run stands when something happens to it. */
export interface Moment {
  name: string;
  /** Gates that are open by then. */
  open: readonly Label[];
  /** Calls that run at that moment; none: only the run's first line was seen. */
  running: readonly Label[];
  /** Answers on the disk. */
  answers: number;
}

export const MOMENTS: readonly Moment[] = [
  { name: 'it has said its id', open: [], running: [], answers: 0 },
  { name: 'the first call runs', open: [], running: ['A'], answers: 0 },
  { name: 'three calls run', open: ['A'], running: ['B', 'C', 'D'], answers: 1 },
  { name: 'one of three is answered', open: ['A', 'C'], running: ['B', 'D'], answers: 2 },
  { name: 'a call of a child runs', open: ['A', 'B', 'C', 'D'], running: ['E'], answers: 4 },
  { name: 'the last call runs', open: ['A', 'B', 'C', 'D', 'E'], running: ['F'], answers: 5 },
  { name: 'every answer is on the disk', open: LABELS, running: [], answers: 6 },
];

export interface Victim {
  project: TestProject;
  backend: FakeBackend;
  handle: WfHandle;
  runId: string;
}

export interface Fault {
  name: string;
  /** Statuses that the struck run may be shown with. */
  statuses: readonly string[];
  /** What is done to the run; then all gates are opened. */
  strike(victim: Victim): Promise<void> | void;
  /** How the run is started, where that is part of the fault. */
  options?: Partial<WfOptions>;
  /** What starts the agents, where they must not share the fault. */
  agentsUnder?: readonly string[];
  /** Before the run is started. */
  prepare?(project: TestProject): void;
  /** After its end, before it is resumed. */
  mend?(victim: Victim): void;
}

export interface Verdict {
  wrongResults: string[];
  lostResults: string[];
  processesLeft: string[];
  wrongStatuses: string[];
}

const LIMIT_MS = 60_000;

export async function live(fault: Fault, moment: Moment): Promise<Verdict> {
  const project = makeProject({ files: { 'life.js': FLOW, '.claude/workflows/child.js': CHILD } });
  const backend = makeFakeBackend(project, { gated: ['/./'] });
  fault.prepare?.(project);
  const options = { ...fault.options, project, timeoutMs: LIMIT_MS };
  const argv = [...(fault.agentsUnder ?? []), ...backend.argv];
  const flags = ['--backend', 'command', '--command', JSON.stringify(argv)];
  const handle = startWf(['run', 'life.js', ...flags], options);
  const runId = idOf((await handle.waitForStderr(/run \S+ started/, LIMIT_MS))[0]);
  const victim: Victim = { project, backend, handle, runId };
  await reach(victim, moment);

  await fault.strike(victim);
  backend.openAllGates();
  const first = await handle.done;
  const verdict: Verdict = { wrongResults: [], lostResults: [], processesLeft: [], wrongStatuses: [] };
  verdict.processesLeft.push(...(await takeLeft(project)));
  fault.mend?.(victim);

  const shown = await runWf(['show', runId, '--json'], { project });
  const { status } = JSON.parse(shown.stdout) as { status: string };
  if (!fault.statuses.includes(status)) verdict.wrongStatuses.push(`${status} (exit ${first.code ?? first.signal})`);

  const recorded = answersIn(project, runId, verdict);
  // A run whose output nobody read has its result on the disk.
  let result = status === 'completed' && first.code === 0 ? resultOf(project, runId, first.stdout) : undefined;
  if (result === undefined) {
    const resumed = await runWf(['run', '--resume-from', runId], { project, timeoutMs: LIMIT_MS });
    if (resumed.code !== 0) verdict.wrongResults.push(`the resume ended with ${resumed.code}: ${tail(resumed.stderr)}`);
    else result = readResult(resumed.stdout) as Record<string, unknown>;
    verdict.processesLeft.push(...(await takeLeft(project)));
  }
  judge(victim, recorded, result, verdict);
  return verdict;
}

async function reach({ project, backend, handle, runId }: Victim, moment: Moment): Promise<void> {
  backend.openGate(...moment.open);
  for (const label of moment.running) await backend.waitForStart(label, { timeoutMs: LIMIT_MS });
  await waitFor(
    () => `${moment.answers} answers on the disk of run ${runId}`,
    () => handle.ended || linesOf(project, runId).filter(isAnswer).length >= moment.answers,
    { watch: [project.runDir(runId)], timeoutMs: LIMIT_MS },
  );
}

function judge(
  { backend, runId }: Victim,
  recorded: ReadonlyMap<string, unknown>,
  result: Record<string, unknown> | undefined,
  verdict: Verdict,
): void {
  for (const label of LABELS) {
    const given = result?.[label];
    const made = backend.ledger.ends(label).map((end) => `${label} answered #${end.nonce}`);
    if (result !== undefined && !made.includes(String(given))) verdict.wrongResults.push(`${label}: ${String(given)}`);
    if (!recorded.has(label)) continue;
    const again = backend.ledger.starts(label).filter((start) => start.runId !== runId).length;
    if (again > 0) verdict.lostResults.push(`${label} ran again although it was answered`);
    if (result !== undefined && given !== recorded.get(label)) {
      verdict.lostResults.push(`${label}: ${String(given)} instead of ${String(recorded.get(label))}`);
    }
  }
}

/** Processes that are there five seconds after the end; they are ended, so that they do not count twice. */
async function takeLeft(project: TestProject): Promise<string[]> {
  const isQuiet = await waitFor('everything of the run to end', () => processesMarked([project.root]).length === 0, {
    timeoutMs: 5_000,
  }).catch(() => false);
  return isQuiet ? [] : killMarked([project.root]).map((row) => row.command.slice(0, 80));
}

/** Labels and answers of a journal. A line may be cut only where a newline closes it; nothing else may be unsound. */
function answersIn(project: TestProject, runId: string, verdict: Verdict): Map<string, unknown> {
  const unsound = textsOf(project, runId).filter((text) => faultOf(text) !== undefined);
  if (unsound.length > 1) verdict.wrongResults.push(`${unsound.length} unsound lines in the journal`);
  return new Map(
    linesOf(project, runId)
      .filter(isAnswer)
      .map((line) => [line.label as string, line.output]),
  );
}

const isAnswer = (line: JournalLine): boolean => line.type === 'result' && line.kind === 'ok';

const linesOf = (project: TestProject, runId: string): JournalLine[] =>
  textsOf(project, runId)
    .filter((text) => faultOf(text) === undefined)
    .map((text) => JSON.parse(text) as JournalLine);

const textsOf = (project: TestProject, runId: string): string[] =>
  readFileSync(join(project.runDir(runId), 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);

function resultOf(project: TestProject, runId: string, stdout: string): Record<string, unknown> {
  if (stdout !== '') return readResult(stdout) as Record<string, unknown>;
  const state = readFileSync(join(project.runDir(runId), 'state.json'), 'utf8');
  return (JSON.parse(state) as { result: Record<string, unknown> }).result;
}

const tail = (text: string): string => text.trimEnd().split('\n').slice(-3).join(' | ').slice(-300);
