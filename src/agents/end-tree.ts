/** Ends everything that an agent process has started: politely with a grace, or at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { processStartTime } from '../shared/process-info.js';
import {
  killProcessTree,
  listProcessTree,
  type ProcessEntry,
  sendSignal,
  type TreeOptions,
} from '../shared/process-tree.js';

export interface TreeEnder {
  /** Notes who belongs to the tree now: a member with a session of its own is not found any more once its parent has gone. */
  remember(): void;
  /** SIGTERM to the group, and SIGKILL to the whole tree when the group has gone or the grace is over. */
  terminate(graceMs: number): Promise<void>;
  /** SIGKILL to whatever is left. Gives how many processes that were. */
  finish(): Promise<number>;
  /** What was still there when all was done to end it: no signal of ours reaches it, or it is stuck in the kernel. */
  readonly left: readonly ProcessEntry[];
}

const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 100;
/** A killed process may take a moment to vanish; one that is stuck in the kernel is not waited for. */
const VANISH_MS = 1_000;

/** @param pid a leader of its own session and group */
export function createTreeEnder(pid: number): TreeEnder {
  const startTime = processStartTime(pid);
  // Members with a session of their own cannot be found any more once their parent has gone.
  const known = new Map<number, string>();
  let left: readonly ProcessEntry[] = [];
  const options: TreeOptions = { startTime, known };

  const look = (): ProcessEntry[] => {
    const members = listProcessTree(pid, options);
    for (const member of members) known.set(member.pid, member.startTime);
    return members;
  };
  const waitWhile = async (isThere: (members: ProcessEntry[]) => boolean, ms: number): Promise<void> => {
    const end = performance.now() + ms;
    for (let pause = FIRST_LOOK_MS; isThere(look()) && performance.now() < end; ) {
      await sleep(Math.max(1, Math.min(pause, end - performance.now())));
      pause = Math.min(pause * 2, LONGEST_LOOK_MS);
    }
  };
  const finish = async (): Promise<number> => {
    const members = look();
    const isNews = members.some((member) => !left.some((other) => isSame(member, other)));
    const killed = members.length > 0 ? killProcessTree(pid, 'SIGKILL', options).length : 0;
    // What did not vanish the first time is not waited for again.
    if (killed > 0 && isNews) await waitWhile((still) => still.length > 0, VANISH_MS);
    left = members.length > 0 ? look() : [];
    return killed;
  };

  return {
    remember: () => void look(),
    async terminate(graceMs) {
      if (look().length === 0) return;
      sendSignal(-pid, 'SIGTERM');
      // The rest of the tree was not asked, and nobody who could end it politely is left once the group has gone.
      await waitWhile((members) => members.some((member) => member.pgid === pid), graceMs);
      await finish();
    },
    finish,
    get left() {
      return left;
    },
  };
}

const isSame = (one: ProcessEntry, other: ProcessEntry): boolean =>
  one.pid === other.pid && one.startTime === other.startTime;
