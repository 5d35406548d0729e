import { expect, test } from 'vitest';
import { findSandboxLaunch } from '../../src/api/sandbox-launch.js';
import { explainDeath } from '../../src/engine/explain-death.js';
import { startSandbox } from '../../src/engine/sandbox-link.js';
import { findOldNode } from '../support/old-node.js';
import { requireBuild } from '../support/run-wf.js';

test('a sandbox that cannot start under the permission model names it, and the way out', async (context) => {
  requireBuild();
  const nodePath = findOldNode();
  if (nodePath === undefined)
    return context.skip('no Node without the permission model is on the PATH of this machine');
  const death = await startSandbox({ ...findSandboxLaunch({}), nodePath }).gone;
  if (death.why === 'killed') throw new Error('nobody killed it');
  const { code, message } = explainDeath(death, { memoryMb: 256 });
  expect(code).toBe('WF_SANDBOX_PERMISSION');
  expect(message).toContain('WF_SANDBOX_PERMISSION=off');
});
