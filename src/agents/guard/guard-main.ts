/**
 * The guard of a run: a process that outlives the engine only to end what the engine had started. It learns of agents by
 * lines (`+<pid> <start time>`, `-<pid>`); when its pipe closes without `bye`, the engine is gone, and so are their trees.
 */
import { createInterface } from 'node:readline';

// Named by the starter, so that it is found in the sources as well as in the build.
const trees: typeof import('../../shared/process-tree.js') = await import(process.argv[2] as string);

// What ends the engine must not end its guard.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const watched = new Map<number, string>();
let clean = false;

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [, sign, pid, startTime] = /^([+-])(\d+) ?(.*)$/.exec(line) ?? [];
  if (line === 'bye') clean = true;
  // A line that was cut off has a start time that fits no process.
  else if (sign === '+' && startTime) watched.set(Number(pid), startTime);
  else if (sign === '-') watched.delete(Number(pid));
});
lines.on('close', () => {
  if (!clean) for (const [pid, startTime] of watched) trees.killProcessTree(pid, 'SIGKILL', { startTime });
  process.exit(0);
});
process.stdin.on('error', () => lines.close());
