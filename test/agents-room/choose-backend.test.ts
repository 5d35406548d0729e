import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createBackend } from '../../src/agents/choose-backend.js';
import { makeProject } from '../support/temp-project.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';

it('a backend that the config has set up is made, and known, by its own name', async () => {
  const project = makeProject();
  writeFileSync(join(project.dir, 'tool.sh'), '#!/bin/sh\ncat\nprintf " %s %s" "$TOOL_NAME" "$OTHER"\n');
  chmodSync(join(project.dir, 'tool.sh'), 0o755);
  const config = { command: { mytool: { argv: ['./tool.sh'], env: ['TOOL_NAME'] } } };
  const env = { ...project.env, TOOL_NAME: 'hammer', OTHER: 'nail' };
  const backend = await createBackend('mytool', { env, folder: project.dir }, config);
  expect(backend.name).toBe('mytool');
  expect(await backend.probe()).toMatchObject({ ok: true });
  const request = makeRequest({ prompt: 'nail it', cwd: project.dir });
  const outcome = await executeCall(backend, request, makePolicy(), makeContext());
  expect(outcome).toMatchObject({ kind: 'ok', output: '"nail it hammer "' });
  await expect(createBackend('mytol', {}, config)).rejects.toThrow('Did you mean mytool?');
});
