import { expect, it } from 'vitest';
import { Tally } from '../../src/engine/tally.js';

it('an equal call that had a recorded answer before another one failed does not make up for it, though a call between them is not yet seen', () => {
  const tally = new Tally();
  tally.see(1, 'first', null, 'key');
  // Call 2 has no recorded answer: it is seen at rest, after call 3 was given its own.
  tally.see(3, 'third', null, 'key');
  tally.reuse(3, { outputTokens: 0, usd: null });
  tally.finish(1, 'failed', { code: 'WF_AGENT_FAILED', message: 'broke' });
  tally.see(2, 'second', null, 'other');
  expect(tally.counts).toMatchObject({ calls: 3, failed: 1, recovered: 0 });
  expect(tally.failures).toMatchObject([{ n: 1, recovered: false }]);

  tally.see(4, 'again', null, 'key');
  tally.finish(4, 'ok');
  expect(tally.counts).toMatchObject({ failed: 0, recovered: 1 });
  expect(tally.failures).toMatchObject([{ n: 1, recovered: true }]);
});
