/**
 * Lets this process breathe between large answers: many that come at once would keep it from its timers, its signals and
 * its agents for as long as all of them take to be written.
 */

/** Below that an answer is never held up. */
const LARGE = 512 << 10;
/** So much is taken in one go. */
const AT_ONCE = 2 << 20;

/** @returns what to wait for before an answer of so many characters is worked on; mostly nothing */
export type Pacer = (size: number) => Promise<void> | undefined;

export function createPacer(): Pacer {
  let taken = 0;
  let line: Promise<void> | undefined;
  return (size) => {
    if (size < LARGE) return undefined;
    if (taken === 0) {
      setImmediate(() => {
        taken = 0;
      });
    }
    taken += size;
    if (line === undefined && taken <= AT_ONCE) return undefined;
    const mine = (line ?? Promise.resolve()).then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    line = mine;
    void mine.then(() => {
      if (line === mine) line = undefined;
    });
    return mine;
  };
}
