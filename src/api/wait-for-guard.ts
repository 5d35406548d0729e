import { setTimeout as delay } from 'node:timers/promises';
import type { RunRecord } from '../runs/records.js';
import { bootId, hostName, isProcessAlive } from '../shared/process-info.js';

const LIMIT_MS = 2_000;
const POLL_MS = 20;

/**
 * Waits until the guard of a run whose owner is gone has ended what was left of its agents: nobody must do a work while
 * another does the same. A guard that takes longer than 2 s is not waited for.
 *
 * @param signal ends the waiting: whoever waited has given up
 */
export async function waitForGuard({ guard, owner }: RunRecord, signal?: AbortSignal): Promise<void> {
  if (guard == null || owner?.host !== hostName() || owner.bootId !== bootId()) return;
  // By the clock: on a busy machine each pause is longer than it should be.
  const end = performance.now() + LIMIT_MS;
  while (performance.now() < end && isProcessAlive(guard.pid, guard.startTime)) {
    if (signal?.aborted) return;
    await delay(POLL_MS);
  }
}
