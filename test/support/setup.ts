/** For every test file: it may not block for ever, and no process that it started may outlive it. */
import { afterAll, expect } from 'vitest';
import { descendantsOf, describeProcess, sendSignal } from './processes.js';
import { waitFor } from './wait.js';
import { startWatchdog } from './watchdog.js';

/** Longer than the time limit of any one test. */
const BLOCKED_MS = 150_000;

const stopWatchdog = startWatchdog(expect.getState().testPath ?? 'a test file', BLOCKED_MS);
afterAll(stopWatchdog);

afterAll(async () => {
  if (process.platform !== 'linux') return;
  const left = () => descendantsOf(process.pid);
  try {
    await waitFor('the children of this test file', () => left().length === 0, { timeoutMs: 3_000 });
  } catch {
    const rows = left();
    for (const row of rows) sendSignal(row.pid, 'SIGKILL');
    if (rows.length > 0) {
      throw new Error(`This test file left processes behind (now ended):\n${rows.map(describeProcess).join('\n')}`);
    }
  }
});
