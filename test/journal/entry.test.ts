import { expect, it } from 'vitest';
import { hasAskedNobody } from '../../src/journal/entry.js';

const failed = (attempts: number, code = 'WF_AGENT_FAILED') =>
  hasAskedNobody({ kind: 'failed', attempts, error: { code, message: '' } });

it('an outcome is that of an agent unless none can have been started for it', () => {
  expect([failed(0, 'WF_BUDGET'), failed(1, 'WF_WORKTREE'), hasAskedNobody({ kind: 'skipped', attempts: 0 })]).toEqual([
    true,
    true,
    true,
  ]);
  // A later attempt that got no worktree comes after one at work; a line without the number says nothing.
  expect([failed(1), failed(2, 'WF_WORKTREE'), hasAskedNobody({ kind: 'failed' })]).toEqual([false, false, false]);
  expect([hasAskedNobody({ kind: 'ok', madeUp: true }), hasAskedNobody({ kind: 'ok', attempts: 1 })]).toEqual([
    true,
    false,
  ]);
});
