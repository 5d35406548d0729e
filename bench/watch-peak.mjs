import { readdirSync, readFileSync } from 'node:fs';

const peakOf = (pid) => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) >> 10;
  } catch {
    return 0;
  }
};

/** Watches the largest memory of this process and of its sandbox processes, MB. */
export function watchPeak() {
  let sandbox = 0;
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      try {
        const parent = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
        if (parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sandbox.cjs'))
          sandbox = Math.max(sandbox, peakOf(pid));
      } catch {
        // gone meanwhile
      }
    }
  }, 50);
  timer.unref();
  return {
    stop() {
      clearInterval(timer);
      return { own: peakOf('self'), sandbox };
    },
  };
}
