/** For every test file: no process that it started may outlive it. */
import { afterAll } from 'vitest';
import { descendantsOf, describeProcess, sendSignal } from './processes.js';
import { waitFor } from './wait.js';

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
