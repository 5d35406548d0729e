/**
 * Whether somebody is still at work in a worktree that holds nothing yet: a child of the agent with a session of its own,
 * a server that it had started, a shell of a person. What such a process writes next would be lost with the folder.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcessesIn } from '../../shared/processes-in.js';
import type { Verdict } from './judge-worktree.js';

/** A killed process may take a moment to vanish, ms. */
const VANISH_MS = 1_000;
const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 100;
const NAMED = 3;

/**
 * The look at processes comes first: one that ends during the look at the files may have written after that, but it was
 * seen then.
 */
export async function judgeInhabited(path: string, judge: () => Promise<Verdict>): Promise<Verdict> {
  const pids = await findProcessesIn(path);
  const verdict = await judge();
  if (verdict.changed || pids.length === 0) return verdict;
  return { changed: true, files: [], commits: 0, doubt: tellProcesses(pids), inUse: true };
}

/** Waits for what was ended with the agent to be gone; what stays is not waited for longer than `limitMs`. */
export async function waitUntilEmpty(path: string, limitMs = VANISH_MS): Promise<void> {
  const end = performance.now() + limitMs;
  for (let pause = FIRST_LOOK_MS; (await findProcessesIn(path)).length > 0 && performance.now() < end; ) {
    await sleep(Math.max(1, Math.min(pause, end - performance.now())));
    pause = Math.min(pause * 2, LONGEST_LOOK_MS);
  }
}

function tellProcesses(pids: readonly number[]): string {
  const named = pids.slice(0, NAMED).join(', ');
  if (pids.length === 1) return `process ${named} has its working folder in it`;
  return `${pids.length} processes have their working folder in it (${named}${pids.length > NAMED ? ', …' : ''})`;
}
