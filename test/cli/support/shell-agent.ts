/**
 * A fake agent for tests with tens or hundreds of calls, where a Node process for each would take minutes. It can do
 * less than the fake backend of `test/support`; its ledger, too, lies outside of the run folder.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from '../../support/temp-project.js';
import { waitFor } from '../../support/wait.js';

export interface ShellBehaviour {
  /** Waits until this gate is open; `$$` stands for its pid. */
  gate?: string;
  /** s */
  delay?: number;
  /** Exit code. */
  fail?: number;
  /** A line for stderr, such as `{"wf":"usage",…}`. */
  says?: string;
  /** Only the first attempt fails and says that. */
  onlyFirst?: boolean;
  /** The answer; without it `<label> by <pid>`. `$label`, `$prompt` and `$$` (the pid) are filled in. */
  reply?: string;
}

export interface ShellLine {
  event: 'start' | 'ok' | 'failed';
  pid: number;
  runId: string;
  /** `WF_CALL_KEY` */
  key: string;
  attempt: number;
  label: string;
}

export interface ShellAgent {
  /** Flags for `wf run`. */
  readonly flags: string[];
  /** Replaces the rules; a label may hold `*`, the first rule that fits decides. */
  setRules(rules: Record<string, ShellBehaviour>): void;
  openGate(...gates: string[]): void;
  openAllGates(): void;
  closeAllGates(): void;
  lines(event?: ShellLine['event']): ShellLine[];
  /** Labels of the calls that were executed in a run, in the order of their starts; without a run, in all. */
  started(runId?: string): string[];
  waitFor(event: ShellLine['event'], label: string, nth?: number): Promise<ShellLine>;
  waitForStarts(count: number): Promise<void>;
}

const SCRIPT = join(import.meta.dirname, 'agent.sh');

export function makeShellAgent(project: TestProject, rules: Record<string, ShellBehaviour> = {}): ShellAgent {
  const control = join(project.control, 'shell');
  const gates = join(control, 'gates');
  const ledger = join(control, 'ledger');
  mkdirSync(gates, { recursive: true });
  const lines = (event?: ShellLine['event']): ShellLine[] =>
    !existsSync(ledger)
      ? []
      : readFileSync(ledger, 'utf8')
          .split('\n')
          .slice(0, -1)
          .map(readLine)
          .filter((line) => event === undefined || line.event === event);
  const describe = (): string =>
    lines()
      .map(({ event, label }) => `  ${event} ${label}`)
      .join('\n');
  const agent: ShellAgent = {
    flags: ['--backend', 'command', '--command', JSON.stringify(['/bin/sh', SCRIPT, control])],
    setRules(table) {
      const cases = Object.entries(table).map(
        ([label, behaviour]) => `${pattern(label)}) ${assignments(behaviour)} ;;`,
      );
      const text = cases.length === 0 ? ':\n' : `case $label in\n${cases.join('\n')}\nesac\n`;
      writeFileSync(join(control, 'table.new'), text);
      renameSync(join(control, 'table.new'), join(control, 'table.sh'));
    },
    openGate(...names) {
      for (const name of names) writeFileSync(join(gates, name), '');
    },
    openAllGates: () => writeFileSync(join(gates, '.all'), ''),
    closeAllGates() {
      rmSync(gates, { recursive: true });
      mkdirSync(gates);
    },
    lines,
    started: (runId) =>
      lines('start')
        .filter((line) => runId === undefined || line.runId === runId)
        .map(({ label }) => label),
    waitFor: (event, label, nth = 1) =>
      waitFor(
        () => `${event} ${label} in the ledger, which holds:\n${describe()}`,
        () => lines(event).filter((line) => line.label === label)[nth - 1],
        { watch: [control] },
      ),
    async waitForStarts(count) {
      await waitFor(
        () => `${count} starts in the ledger, which holds:\n${describe()}`,
        () => lines('start').length >= count,
        { watch: [control] },
      );
    },
  };
  agent.setRules(rules);
  return agent;
}

function readLine(line: string): ShellLine {
  const [event, pid, runId, key, attempt, ...label] = line.split('|');
  return {
    event: event as ShellLine['event'],
    pid: Number(pid),
    runId: runId ?? '',
    key: key ?? '',
    attempt: Number(attempt),
    label: label.join('|'),
  };
}

const pattern = (label: string): string =>
  label
    .split('*')
    .map((part) => `'${part}'`)
    .join('*');

function assignments({ gate, delay, fail, says, onlyFirst, reply }: ShellBehaviour): string {
  const parts: string[] = [];
  if (gate !== undefined) parts.push(`gate="${gate}"`);
  if (delay !== undefined) parts.push(`delay=${delay}`);
  if (fail !== undefined) parts.push(`code=${fail}`);
  if (onlyFirst) parts.push('once=1');
  if (says !== undefined) parts.push(`says="${says.replace(/["\\`]/g, '\\$&')}"`);
  if (reply !== undefined) parts.push(`reply="${reply.replace(/["\\`]/g, '\\$&')}"`);
  return parts.join(' ') || ':';
}

/** The usage line that a program may print. */
export const usageLine = (out: number, usd?: number): string =>
  JSON.stringify({ wf: 'usage', in: 1, out, ...(usd === undefined ? {} : { usd }) });

/** Largest number of agents that ran at once. */
export function mostAtOnce(lines: readonly ShellLine[]): number {
  let now = 0;
  let most = 0;
  for (const { event } of lines) {
    now += event === 'start' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}
