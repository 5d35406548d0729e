/** What a backend keeps open must not keep the record of its run open. */
import type { Clock } from '../shared/clock.js';

const CLOSE_MS = 10_000;

/** @throws what `close` throws, or that it took too long: then it is left to itself */
export async function closeInTime(close: () => Promise<void>, clock: Clock): Promise<void> {
  let stop = (): void => {};
  const late = new Promise<never>((_, reject) => {
    stop = clock.after(CLOSE_MS, () => reject(new Error(`it was not done after ${CLOSE_MS / 1000} s`)));
  });
  try {
    await Promise.race([close(), late]);
  } finally {
    stop();
  }
}
