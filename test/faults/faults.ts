/** What may happen to a run from outside. */
import { spawnSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxOf } from '../cli/cli-kit.js';
import { descendantsOf, isAlive, type ProcessRow, sendSignal } from '../support/processes.js';
import { waitFor } from '../support/wait.js';
import type { Fault, Victim } from './life.js';

const ENDED_BY_ITSELF = ['completed'];
/** The signal may come when the script has its last answer. */
const orCompleted = (...statuses: string[]): string[] => [...statuses, 'completed'];

const sandboxBelow = (pid: number): ProcessRow | undefined => {
  try {
    return sandboxOf(pid);
  } catch {
    return undefined; // it has ended
  }
};
const guardBelow = (pid: number): ProcessRow | undefined =>
  descendantsOf(pid).find(({ command }) => command.includes('guard'));
const agentsBelow = ({ handle, project }: Victim): ProcessRow[] =>
  descendantsOf(handle.pid).filter(({ command }) => command.includes(project.control));

/** Stops it for as long as a short sleep of a laptop takes, as far as a test can wait for that. */
async function pause(rows: readonly { pid: number }[]): Promise<void> {
  for (const { pid } of rows) sendSignal(pid, 'SIGSTOP');
  const start = performance.now();
  await waitFor('the pause to be over', () => performance.now() - start >= 400 || undefined);
  for (const { pid } of rows) sendSignal(pid, 'SIGCONT');
}

function limitFiles(pid: number, size: string): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--fsize=${size}:`], { encoding: 'utf8' });
  if (status !== 0 && isAlive(pid)) throw new Error(`prlimit: ${stderr}`);
}

const journalOf = ({ project, runId }: Victim): string => join(project.runDir(runId), 'journal.jsonl');
const NOBODY = 65_534;
const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
const sh = (script: string): string[] => ['bash', '-c', script, 'bash'];

export const FAULTS: readonly Fault[] = [
  {
    name: 'SIGKILL of wf',
    statuses: orCompleted('interrupted'),
    strike: ({ handle }) => void handle.kill('SIGKILL'),
  },
  {
    name: 'SIGKILL of the sandbox',
    statuses: orCompleted('failed'),
    strike({ handle }) {
      const sandbox = sandboxBelow(handle.pid);
      if (sandbox !== undefined) sendSignal(sandbox.pid, 'SIGKILL');
    },
  },
  {
    name: 'SIGKILL of wf, sandbox, guard and agents',
    statuses: orCompleted('interrupted'),
    strike: ({ handle }) => handle.killTree(),
  },
  {
    name: 'SIGKILL of the running agents',
    statuses: ENDED_BY_ITSELF,
    strike(victim) {
      for (const { pid } of agentsBelow(victim)) sendSignal(pid, 'SIGKILL');
    },
  },
  {
    name: 'SIGKILL of the guard',
    statuses: ENDED_BY_ITSELF,
    strike({ handle }) {
      const guard = guardBelow(handle.pid);
      if (guard !== undefined) sendSignal(guard.pid, 'SIGKILL');
    },
  },
  { name: 'SIGINT', statuses: orCompleted('cancelled'), strike: ({ handle }) => void handle.kill('SIGINT') },
  {
    name: 'SIGINT, and again',
    statuses: orCompleted('cancelled', 'interrupted'),
    async strike({ handle }) {
      handle.kill('SIGINT');
      const start = performance.now();
      await waitFor('a second that is no echo', () => handle.ended || performance.now() - start >= 200 || undefined);
      handle.kill('SIGINT');
    },
  },
  {
    name: 'SIGTERM',
    statuses: orCompleted('interrupted'),
    strike: ({ handle }) => void handle.kill('SIGTERM'),
  },
  { name: 'SIGHUP', statuses: orCompleted('interrupted'), strike: ({ handle }) => void handle.kill('SIGHUP') },
  {
    name: 'wf stopped and continued',
    statuses: ENDED_BY_ITSELF,
    strike: ({ handle }) => pause([handle]),
  },
  {
    name: 'the sandbox stopped and continued',
    statuses: ENDED_BY_ITSELF,
    strike({ handle }) {
      const sandbox = sandboxBelow(handle.pid);
      return sandbox === undefined ? undefined : pause([sandbox]);
    },
  },
  {
    name: 'agents stopped and continued',
    statuses: ENDED_BY_ITSELF,
    strike: (victim) => pause(agentsBelow(victim)),
  },
  {
    name: 'disk full for a while',
    statuses: ENDED_BY_ITSELF,
    agentsUnder: ['prlimit', '--fsize=unlimited:'],
    async strike(victim) {
      const { handle } = victim;
      // The next line is cut in its middle.
      limitFiles(handle.pid, String(statSync(journalOf(victim)).size + 50));
      victim.backend.openAllGates();
      await waitFor('a line that cannot be written', () => handle.ended || /cannot be written/.test(handle.stderr), {
        timeoutMs: 3_000,
      }).catch(() => {});
      limitFiles(handle.pid, 'unlimited');
    },
  },
  {
    name: 'run folder without permission',
    statuses: ['completed', 'interrupted', 'failed'],
    options: { under: asNobody },
    prepare: (project) => void spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, project.root]),
    strike: ({ project, runId }) => chmodSync(project.runDir(runId), 0o500),
    mend: ({ project, runId }) => chmodSync(project.runDir(runId), 0o700),
  },
  {
    name: 'stdout closed',
    statuses: ENDED_BY_ITSELF,
    options: { under: sh('exec "$@" > >(exec true)') },
    strike: () => {},
  },
  {
    name: 'stderr closed after its first line',
    statuses: ENDED_BY_ITSELF,
    options: { under: sh('exec "$@" 2> >(exec head -n 1 >&2)') },
    strike: () => {},
  },
];
