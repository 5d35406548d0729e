import type { Reporter } from '../engine/events.js';
import { messageOf } from '../shared/errors.js';
import { tellSafely } from './write-text.js';

/** Several reporters as one. One that throws is told about once and then left out; the run and the others go on. */
export function combineReporters(
  reporters: readonly Reporter[],
  onTrouble: (message: string) => void = () => {},
): Reporter {
  const guarded = reporters.map((reporter) => guardReporter(reporter, onTrouble));
  return {
    event(event) {
      for (const reporter of guarded) reporter.event(event);
    },
    async close() {
      for (const reporter of guarded) await reporter.close?.();
    },
  };
}

/** A reporter whose faults stay its own: it neither throws nor rejects. */
function guardReporter(reporter: Reporter, onTrouble: (message: string) => void = () => {}): Reporter {
  let retired = false;
  const retire = (error: unknown): void => {
    retired = true;
    tellSafely(onTrouble, `A reporter stopped: ${messageOf(error)}`);
  };
  return {
    event(event) {
      if (retired) return;
      try {
        reporter.event(event);
      } catch (error) {
        retire(error);
      }
    },
    async close() {
      try {
        await reporter.close?.();
      } catch (error) {
        if (!retired) retire(error);
      }
    },
  };
}
