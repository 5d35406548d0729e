/** Says on stderr at what `wf doctor` is, where it takes long: its report comes only at the end. */
import { cleanLine } from '../report/clean-line.js';
import type { DoctorStep } from '../index.js';

const EVERY_MS = 10_000;

export function tellSlowSteps(): { onStep: (step: DoctorStep) => void; close: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => clearInterval(timer);
  return {
    onStep({ title, mending }) {
      close();
      const began = performance.now();
      timer = setInterval(() => {
        const seconds = Math.round((performance.now() - began) / 1000);
        const what = mending === null ? 'looking' : `mending ${mending}`;
        process.stderr.write(`wf: still at "${title}", ${cleanLine(what)}, for ${seconds} s.\n`);
      }, EVERY_MS);
    },
    close,
  };
}
