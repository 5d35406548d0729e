/** A model has no clock of its own, so a case that stands still would stand for ever: after a while it fails, with its last steps. */
export interface Watchdog {
  note(step: string): void;
  watch<T>(work: Promise<T>): Promise<T>;
}

const LIMIT_MS = 20_000;
const STEPS = 15;

export function createWatchdog(name: string): Watchdog {
  const steps: string[] = [];
  return {
    note(step) {
      steps.push(step);
      if (steps.length > STEPS) steps.shift();
    },
    watch(work) {
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${name} stands still:\n${steps.join('\n')}`)), LIMIT_MS);
      });
      return Promise.race([work, limit]).finally(() => clearTimeout(timer));
    },
  };
}
