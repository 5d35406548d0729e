/** Makes `acp` backends whose agent is ours: it speaks the real protocol over stdio and does what a script says. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { expect } from 'vitest';
import { createAcpBackend } from '../../src/agents/acp/acp-backend.js';
import type { AcpSettings } from '../../src/agents/acp/acp-settings.js';
import type { AgentBackend } from '../../src/agents/backend.js';
import { type CallOutcome, executeCall } from '../../src/agents/execute-call.js';
import { makeContext, makePolicy, makeRequest, type NotedContext } from './call-kit.js';
import { isProcessAlive } from '../../src/shared/process-info.js';
import { readJsonLines } from '../support/json-lines.js';
import { makeFileFolder } from '../support/temp-folder.js';

/** See fixtures/agents/testing/acp-agent.mjs. */
export type Action = Record<string, unknown>;

export interface AcpScript {
  start?: Record<string, unknown>;
  steps?: readonly (readonly Action[])[];
}

const folder = makeFileFolder('acp');
let files = 0;

/** One file, so that each of its many starts loads what it needs of the SDK and no more. */
const AGENT = join(folder, 'acp-agent.mjs');
await build({
  entryPoints: [join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'testing', 'acp-agent.mjs')],
  outfile: AGENT,
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
});
await stop();

export interface ScriptedAgent {
  backend: AgentBackend;
  context: NotedContext;
  run(request?: Parameters<typeof makeRequest>[0], policy?: Parameters<typeof makePolicy>[0]): Promise<CallOutcome>;
  /** What the agent noted, in order. */
  notes(): { what: string; value: unknown }[];
  noted(what: string): unknown[];
}

/** Writes a script of the agent and gives the words that start it so. */
export function writeAgentScript(script: AcpScript): { argv: string[]; notes(): { what: string; value: unknown }[] } {
  const scriptFile = join(folder, `script-${files}.json`);
  const noteFile = join(folder, `notes-${files++}.jsonl`);
  writeFileSync(scriptFile, JSON.stringify({ steps: [[{ say: 'hello' }]], ...script }));
  writeFileSync(noteFile, '');
  return {
    argv: [process.execPath, AGENT, scriptFile, noteFile],
    notes: () => readJsonLines(readFileSync(noteFile, 'utf8')),
  };
}

export function scriptAgent(script: AcpScript, settings: Partial<AcpSettings> = {}): ScriptedAgent {
  const { argv, notes } = writeAgentScript(script);
  const [command = '', ...args] = argv;
  const backend = createAcpBackend({
    settings: { command, args, ...settings },
    name: 'scripted',
    env: { PATH: process.env.PATH },
  });
  const context = makeContext();
  return {
    backend,
    context,
    run: (request, policy) => executeCall(backend, makeRequest(request), makePolicy(policy), context),
    notes,
    noted: (what) => notes().flatMap((each) => (each.what === what ? [each.value] : [])),
  };
}

export const messageOf = (outcome: CallOutcome): string => (outcome as { error: { message: string } }).error.message;
export const warningsOf = ({ context }: ScriptedAgent): string[] =>
  context.events.flatMap((event) => (event.type === 'warning' ? event.text : []));
export const progressOf = ({ context }: ScriptedAgent): string[] =>
  context.events.flatMap((event) => (event.type === 'progress' ? event.text : []));

/** The agent's process, and all that it started, has ended. */
export function expectNothingLeft({ context }: ScriptedAgent): void {
  expect(context.ended).toEqual(context.started);
  expect(context.started.filter((pid) => isProcessAlive(pid))).toEqual([]);
}
