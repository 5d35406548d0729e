/** Runs again what something in passing kept from its work, later each time. */
import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 10;
const FIRST_MS = 40;
const LONGEST_MS = 1_000;

export interface Patience {
  /** What was waited for in vain before: it is not waited for again. */
  readonly outlasted?: Set<string> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * @param run one try; the end of the last one is the result
 * @param obstacleOf what stood in the way, in words; undefined where waiting would change nothing
 */
export async function repeat<End>(
  run: () => Promise<End>,
  obstacleOf: (end: End) => string | undefined,
  { outlasted, signal }: Patience,
): Promise<End> {
  for (let tries = 1; ; tries++) {
    const end = await run();
    const obstacle = obstacleOf(end);
    if (obstacle === undefined || signal?.aborted) return end;
    if (tries === TRIES) outlasted?.add(obstacle);
    if (tries === TRIES || outlasted?.has(obstacle)) return end;
    // Those that collided must not come back together.
    const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** tries) * (0.5 + Math.random() / 2);
    await sleep(pause, undefined, signal === undefined ? {} : { signal }).catch(() => {});
  }
}
