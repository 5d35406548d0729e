/**
 * For how long this process did not run at all: the machine slept, or somebody stopped the process. Limits do not count
 * it, since the agents stood still as well. It is seen by ticks that come late, and only while somebody asks.
 */
const TICK_MS = 500;

let users = 0;
let ticker: NodeJS.Timeout | undefined;
let lastTick = 0;
let lost = 0;

const gapSinceTick = (): number => {
  const late = performance.now() - lastTick - TICK_MS;
  // A tick that is somewhat late means a busy process.
  return late > TICK_MS ? late : 0;
};

export interface Standstill {
  /** ms so far; only differences mean something. */
  lostMs(): number;
  close(): void;
}

export function watchStandstill(): Standstill {
  if (users++ === 0) {
    lastTick = performance.now();
    ticker = setInterval(() => {
      lost += gapSinceTick();
      lastTick = performance.now();
    }, TICK_MS);
    ticker.unref();
  }
  let isOpen = true;
  return {
    lostMs: () => lost + gapSinceTick(),
    close() {
      if (!isOpen) return;
      isOpen = false;
      if (--users === 0) clearInterval(ticker);
    },
  };
}

export interface AwakeTimer {
  /** The time begins anew. */
  refresh(): void;
  stop(): void;
}

/**
 * Calls back once `ms` have passed in which this process could run.
 *
 * @param onGap told how long it could not, when that is why it waits longer
 */
export function startAwakeTimer(
  ms: number,
  standstill: Standstill,
  act: () => void,
  onGap: (ms: number) => void,
): AwakeTimer {
  let from = 0;
  let lostBefore = 0;
  let timer: NodeJS.Timeout | undefined;
  let armed = 0;
  const arm = (delay: number): void => {
    armed = delay;
    timer = setTimeout(fire, delay);
  };
  const fire = (): void => {
    const lostMs = standstill.lostMs() - lostBefore;
    const left = ms - (performance.now() - from - lostMs);
    if (left < 1) return act();
    if (lostMs > 0) onGap(lostMs);
    arm(left);
  };
  const begin = (): void => {
    from = performance.now();
    lostBefore = standstill.lostMs();
  };
  begin();
  arm(ms);
  return {
    refresh() {
      begin();
      if (armed === ms) return void timer?.refresh();
      clearTimeout(timer);
      arm(ms);
    },
    stop: () => clearTimeout(timer),
  };
}
