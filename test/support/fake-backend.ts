/**
 * The fake backend (FB of the requirements): a program for `--backend command` whose every execution is on record
 * outside of the run folder, that waits where a test wants it, and answers with a number that no other execution had.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonLines } from './json-lines.js';
import type { TestProject } from './temp-project.js';
import { waitFor } from './wait.js';

/** What an execution does, in the order of the fields. Without any: it answers `<label> answered #<nonce>`. */
export interface Behaviour {
  /** Keeps running on SIGTERM. */
  ignoreTerm?: true;
  /** `false`: closes stdin unread. Chosen by label, not by prompt. */
  readInput?: false;
  /** Lines for stderr. */
  stderr?: string[];
  spawnGrandchild?: { detached?: boolean; ignoreTerm?: boolean };
  /** Kills `wf` right after the start is on record. */
  killParent?: NodeJS.Signals;
  /** Waits until `openGate(label)`. */
  gate?: true;
  delayMs?: number;
  /** External effect: appends a line to this file. */
  touch?: string;
  /** Never ends by itself. */
  hang?: true;
  /** Ends itself by a signal. */
  dieBy?: NodeJS.Signals;
  /** Tells its usage on stderr. */
  tokens?: { in: number; out: number; usd?: number };
  /** Exit code of a failure. */
  fail?: number;
  /** Fails with `code` the first `times` executions of its label, then answers. */
  flaky?: { times: number; code: number };
  /** Answers with these bytes. */
  rawBase64?: string;
  /** Answers with this text as it is, schema or not. */
  raw?: string;
  /** Answers with that many letters. */
  bytes?: number;
  /** The answer; JSON when it is no string or the call has a schema. `{nonce}` `{label}` `{prompt}` `{attempt}` `{key}` in texts are filled in. */
  value?: unknown;
  /** Kills `wf` after the answer was printed and noted. */
  killParentAtEnd?: NodeJS.Signals;
}

export interface Rule {
  /** All must fit; a text is the whole one, `/…/` a regular expression. `nth` counts executions of the label from 1. */
  when?: { label?: string; prompt?: string; phase?: string; nth?: number };
  behaviour: Behaviour;
}

export interface LedgerLine {
  event: 'start' | 'waiting' | 'grandchild' | 'sigterm' | 'end';
  label: string;
  pid: number;
  /** `WF_CALL_KEY` */
  key: string;
  /** `WF_ATTEMPT` */
  attempt: number;
  at: number;
}

export interface StartLine extends LedgerLine {
  event: 'start';
  /** Which execution of its label, from 1, over all runs. */
  nth: number;
  ppid: number;
  /** Its first 300 characters. */
  prompt: string;
  promptBytes: number;
  cwd: string;
  runId: string;
  phase: string;
  model: string;
  schema: boolean;
  /** Names of the variables that it was given. */
  env: string[];
  /** What lay in the run folder when it started. */
  runFiles: string[];
  journalLines: number;
}

export interface EndLine extends LedgerLine {
  event: 'end';
  outcome: 'ok' | 'failed' | 'died' | 'terminated';
  nonce?: number;
  code?: number;
}

export interface FakeBackend {
  /** The words of the command: program and arguments. */
  readonly argv: string[];
  /** Flags for `wf run`: `--backend command --command …`. */
  readonly flags: string[];
  readonly ledger: Ledger;
  /** Replaces the rules; the first one that fits decides. An object is short for one rule a label. */
  setRules(rules: readonly Rule[] | Record<string, Behaviour>): void;
  /** Makes these labels (texts or `/…/`) wait at their gates from now on; their gates are closed. */
  gate(...labels: string[]): void;
  openGate(...labels: string[]): void;
  openAllGates(): void;
  /** Resolves when the ledger holds the `nth` start (end) of a label. */
  waitForStart(label: string, options?: { nth?: number; timeoutMs?: number }): Promise<StartLine>;
  waitForEnd(label: string, options?: { nth?: number; timeoutMs?: number }): Promise<EndLine>;
  /** Resolves when the ledger holds that many starts (ends) of whatever label. */
  waitForStarts(count: number, timeoutMs?: number): Promise<StartLine[]>;
  waitForEnds(count: number, timeoutMs?: number): Promise<EndLine[]>;
}

/** Reads what the agents noted; every call reads it anew. A label may be a text, a regular expression, or left out for all. */
export interface Ledger {
  readonly file: string;
  lines(): LedgerLine[];
  starts(label?: string | RegExp): StartLine[];
  ends(label?: string | RegExp): EndLine[];
  /** Pids of grandchildren that agents started. */
  grandchildren(): number[];
}

const AGENT = join(import.meta.dirname, 'fake-backend', 'agent.mjs');

export function makeFakeBackend(
  project: TestProject,
  options: { rules?: readonly Rule[] | Record<string, Behaviour>; gated?: string[]; runsDir?: string } = {},
): FakeBackend {
  const gates = join(project.control, 'gates');
  mkdirSync(gates, { recursive: true });
  const table = {
    rules: toRules(options.rules ?? []),
    gated: [] as string[],
    runsDir: options.runsDir ?? project.runsDir,
  };
  const saveTable = (): void => {
    const file = join(project.control, 'behaviours.json');
    writeFileSync(`${file}.new`, JSON.stringify(table));
    renameSync(`${file}.new`, file);
  };
  const ledger = openLedger(join(project.control, 'ledger.jsonl'));
  const argv = [process.execPath, AGENT, project.control];

  const waitForLines = <Line extends LedgerLine>(
    what: string,
    count: number,
    read: () => Line[],
    timeoutMs: number | undefined,
  ): Promise<Line[]> =>
    waitFor(
      () => `${count} ${what} in the ledger, which holds:\n${ledger.lines().map(describeLine).join('\n')}`,
      () => {
        const lines = read();
        return lines.length >= count && lines;
      },
      { watch: [project.control], ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    );
  const nthOf = async <Line extends LedgerLine>(
    what: string,
    read: () => Line[],
    { nth = 1, timeoutMs }: { nth?: number; timeoutMs?: number } = {},
  ): Promise<Line> => (await waitForLines(what, nth, read, timeoutMs))[nth - 1] as Line;

  const backend: FakeBackend = {
    argv,
    flags: ['--backend', 'command', '--command', JSON.stringify(argv)],
    ledger,
    setRules(rules) {
      table.rules = toRules(rules);
      saveTable();
    },
    gate(...labels) {
      rmSync(join(gates, '.all'), { force: true });
      for (const label of labels) rmSync(join(gates, gateFile(label)), { force: true });
      table.gated.push(...labels.filter((label) => !table.gated.includes(label)));
      saveTable();
    },
    openGate(...labels) {
      for (const label of labels) writeFileSync(join(gates, gateFile(label)), '');
    },
    openAllGates: () => writeFileSync(join(gates, '.all'), ''),
    waitForStart: (label, wait) => nthOf(`start of ${label}`, () => ledger.starts(label), wait),
    waitForEnd: (label, wait) => nthOf(`end of ${label}`, () => ledger.ends(label), wait),
    waitForStarts: (count, timeoutMs) => waitForLines('starts', count, () => ledger.starts(), timeoutMs),
    waitForEnds: (count, timeoutMs) => waitForLines('ends', count, () => ledger.ends(), timeoutMs),
  };
  saveTable();
  backend.gate(...(options.gated ?? []));
  return backend;
}

function openLedger(file: string): Ledger {
  const lines = (): LedgerLine[] => (existsSync(file) ? readJsonLines(readFileSync(file, 'utf8')) : []);
  const select = <Line extends LedgerLine>(event: string, label?: string | RegExp): Line[] =>
    lines().filter(
      (line): line is Line =>
        line.event === event &&
        (label === undefined || (typeof label === 'string' ? line.label === label : label.test(line.label))),
    );
  return {
    file,
    lines,
    starts: (label) => select<StartLine>('start', label),
    ends: (label) => select<EndLine>('end', label),
    grandchildren: () => select<LedgerLine & { grandchild: number }>('grandchild').map((line) => line.grandchild),
  };
}

const toRules = (rules: readonly Rule[] | Record<string, Behaviour>): readonly Rule[] =>
  Array.isArray(rules)
    ? rules
    : Object.entries(rules).map(([label, behaviour]) => ({ when: { label }, behaviour: behaviour as Behaviour }));

/** As agent.mjs names it. */
const gateFile = (label: string): string => `gate-${encodeURIComponent(label).slice(0, 200)}`;

const describeLine = (line: LedgerLine): string =>
  `  ${line.event} ${line.label} pid ${line.pid} attempt ${line.attempt}`;
