import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackendError, defineBackend } from '../../src/agents/backend.js';
import { createCommandBackend } from '../../src/agents/command/command-backend.js';
import type { MockRule } from '../../src/agents/mock/mock-rules.js';
import { createMockBackend } from '../../src/agents/mock/mock-backend.js';
import { readUsage } from '../../src/agents/usage-words.js';
import { makeFileFolder } from '../support/temp-folder.js';
import { type Action, scriptAgent } from './acp-kit.js';
import { scriptedClaude } from './claude-kit.js';
import { scriptedCodex, toCodexStep } from './codex-kit.js';
import { describeConformance, type Step } from './conformance.js';

const folder = makeFileFolder('conformance');
let files = 0;

describeConformance({
  name: 'in process',
  make: (steps) =>
    defineBackend({
      name: 'steps',
      run: async (request, context) => {
        const step = steps[Math.min(request.attempt, steps.length) - 1] as Step;
        const usage = step.usage && readUsage(step.usage);
        if ('hang' in step) {
          return await new Promise((_, reject) => {
            const stop = () => reject(new BackendError('cancelled', 'stopped'));
            context.signal.addEventListener('abort', stop, { once: true });
          });
        }
        if ('error' in step) {
          const { retryAfterMs } = step;
          throw new BackendError(step.error, step.message ?? step.error, {
            ...(usage && { usage }),
            ...(retryAfterMs && { retryAfterMs }),
          });
        }
        if ('echo' in step) {
          const sha256 = createHash('sha256').update(Buffer.from(request.prompt)).digest('hex');
          return { text: '', structured: { sha256, cwd: request.cwd } };
        }
        return { text: step.text.repeat(step.repeat ?? 1), ...(usage && { usage }) };
      },
    }),
});

describeConformance({
  name: 'mock',
  blind: true,
  make: (steps) =>
    createMockBackend({ rules: steps.map((step, i) => toRule(step, i + 1 < steps.length ? i + 1 : undefined)) }),
});

function toRule(step: Step, attempt: number | undefined): MockRule {
  const rule: MockRule = { ...(attempt && { when: { attempt } }), ...(step.usage && { usage: readUsage(step.usage) }) };
  if ('hang' in step) return { ...rule, hang: true };
  if ('error' in step) return { ...rule, ...step, usage: rule.usage as never };
  if ('echo' in step) throw new Error('mock does not look at the call');
  return { ...rule, reply: step.text.repeat(step.repeat ?? 1) };
}

describeConformance({ name: 'claude', make: (steps) => scriptedClaude(steps).backend });

describeConformance({
  name: 'codex',
  tokensOnly: true,
  make: (steps) => scriptedCodex(steps.map(toCodexStep)).backend,
});

describeConformance({
  name: 'command',
  make: (steps) => {
    const file = join(folder, `steps-${files++}.json`);
    writeFileSync(file, JSON.stringify(steps.map(toProgramStep)));
    const agent = join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'testing', 'scripted-agent.mjs');
    return createCommandBackend({ argv: [process.execPath, agent, file], env: { PATH: process.env.PATH } });
  },
});

const EXITS: Record<string, number> = { server: 75, overloaded: 69, auth: 77, config: 78, failed: 3 };

function toProgramStep(step: Step): object {
  if (!('error' in step)) return step;
  const { error, retryAfterMs, message, usage } = step;
  const exit = EXITS[error] ?? 1;
  const told = EXITS[error] ? undefined : { kind: error, retryAfterMs, message };
  return { exit, told, stderr: message, usage };
}
describeConformance({ name: 'acp', make: (steps) => scriptAgent({ steps: steps.map(toActions) }).backend });

const CODES: Record<string, number> = { auth: -32_000, rate_limit: 429, server: 500, overloaded: 529 };
/** How an agent reports a failed turn with what it has cost: an error of the protocol has no place for that. */
const failedTurn = (title: string): object => ({
  jetbrains: { air: { version: 1, sessionFailure: { category: 'service', severity: 'error', title } } },
});

function toActions(step: Step): Action[] {
  const { in: inputTokens, out: outputTokens, usd } = step.usage ?? {};
  const spent: Action[] = [];
  if (step.usage) spent.push({ tokens: { inputTokens, outputTokens } });
  if (usd !== undefined) spent.push({ usd });
  if ('hang' in step) return [{ hang: true }];
  if ('echo' in step) return [...spent, { echo: true }];
  if ('text' in step) return [...spent, { say: step.text, repeat: step.repeat }];
  const message = step.message ?? step.error;
  if (step.usage) return [...spent, { meta: failedTurn(message) }];
  const data = step.retryAfterMs === undefined ? undefined : { retryAfterMs: step.retryAfterMs };
  return [{ error: { code: CODES[step.error] ?? -32_603, message, data } }];
}
