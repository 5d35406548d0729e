/**
 * A test that blocks its process (a read that never returns, a loop that never ends) is beyond vitest's time limits and
 * would hold up the whole run. A thread beside it looks for signs of life and ends the process, naming the test file.
 */
import { Worker } from 'node:worker_threads';

const THREAD = `
const { workerData: { beats, limitMs, file } } = require('node:worker_threads');
const { writeSync } = require('node:fs');
let last = Atomics.load(beats, 0);
let since = Date.now();
setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now !== last) {
    last = now;
    since = Date.now();
  } else if (Date.now() - since > limitMs) {
    writeSync(2, 'watchdog: ' + file + ' has blocked its process for ' + limitMs + ' ms; it is ended.\\n');
    process.kill(process.pid, 'SIGKILL');
  }
}, Math.min(1000, limitMs / 4));
`;

/** Ends this process when its event loop stands still for that long. Gives the way to call it off. */
export function startWatchdog(file: string, limitMs: number): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const heart = setInterval(() => Atomics.add(beats, 0, 1), Math.min(500, limitMs / 8));
  heart.unref();
  const thread = new Worker(THREAD, { eval: true, workerData: { beats, limitMs, file }, execArgv: [] });
  thread.unref();
  return () => {
    clearInterval(heart);
    void thread.terminate();
  };
}
