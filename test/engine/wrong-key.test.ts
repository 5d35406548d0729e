/** The sandbox runs the script, so it is the less trusted side: a key that it names is made again before money is spent. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UpMessage } from '../../src/engine/sandbox/frames.js';
import { runModel } from '../generation/model-run.js';
import { createReusableSandbox, type ReusableSandbox } from '../generation/reusable-sandbox.js';

let sandbox: ReusableSandbox;
beforeAll(() => {
  sandbox = createReusableSandbox();
});
afterAll(() => sandbox.close());

/** Changes what the sandbox says before anybody hears it. */
const tampered = (tamper: (message: UpMessage) => void): ReusableSandbox => ({
  ...sandbox,
  open: (onMessage) =>
    sandbox.open((message) => {
      tamper(message);
      onMessage?.(message);
    }),
});

it('J15 a call whose key is not that of its text is never executed and never recorded: the run ends and says why', async () => {
  const lying = tampered((message) => {
    if (message.t !== 'events') return;
    for (const event of message.events) if (event[0] === 'c') event[2] = 'f'.repeat(64);
  });
  const run = await runModel(lying, {
    script: "export const meta = { name: 'flow', description: 'A case' }\nreturn await agent('do it')",
    runId: '5a0e2f0c-1111-4222-8333-444455556666',
    random: () => 0,
    answer: () => 'done',
  });
  const error = { code: 'WF_INTERNAL', message: 'The sandbox made a wrong key for call 1.' };
  expect(run.end).toEqual({ how: 'failed', error });
  expect([run.dispatched, run.journal.length]).toEqual([[], 0]);
});
