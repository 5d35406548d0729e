import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openFileAccess } from '../../src/agents/ai-sdk/file-access.js';
import { makeProject } from '../support/temp-project.js';

it('a working folder that is gone fails the tool that needs it, and nothing else', async () => {
  const folder = join(makeProject().dir, 'gone');
  const { signal } = new AbortController();
  // Vitest fails a test during which a rejection is left alone.
  const access = openFileAccess(folder);
  await nextTurn();
  await expect(access.list('.', signal)).rejects.toThrow('The working folder is not there.');
  await expect(access.read('a.txt', 1, signal)).rejects.toThrow('The working folder is not there.');
});
