/** A plan looks behind the calls that run first, for reasons only: nothing that goes wrong there may hold it up. */
import { expect, it } from 'vitest';
import { type PlanOptions, planReplay } from '../../src/engine/plan.js';
import type { DownHead, UpEvent, UpMessage } from '../../src/engine/sandbox/frames.js';
import type { SandboxDeath } from '../../src/engine/sandbox-link.js';
import type { CarriedLines, KeptLine } from '../../src/journal/carry.js';
import { loadScript } from '../../src/script/load-script.js';

/** Less than the time that a look may take at most. */
const AT_ONCE_MS = 5_000;
const CALL: UpEvent = ['c', 1, 'e'.repeat(64), '', 0, 'changed', '', 'changed', null];

const answer = (kept: number): KeptLine => ({
  type: 'result',
  kept,
  kind: 'ok',
  n: kept,
  key: String(kept).repeat(64),
  path: '',
  nth: 0,
  label: `recorded ${kept}`,
  phase: undefined,
  from: 'run',
  madeUp: false,
  size: 2,
  outputTokens: 0,
  usd: null,
  outputOffset: 0,
  canonical: true,
  lineOffset: 0,
  lineLength: 0,
  delivered: true,
});

type Told = UpMessage | SandboxDeath;

/** A plan of two recorded answers with a sandbox that says to each frame what `reply` has for it. */
async function planWith(reply: (head: DownHead) => Told[], readOutput: CarriedLines['readOutput']) {
  let listener: (message: UpMessage) => void = () => {};
  let die: (death: SandboxDeath) => void = () => {};
  const gone = new Promise<SandboxDeath>((resolve) => {
    die = resolve;
  });
  const sandbox = {
    pid: undefined,
    resting: false,
    gone,
    waitingBytes: 0,
    afterDrain: (callback: () => void) => callback(),
    send(head: DownHead) {
      for (const told of reply(head)) {
        if ('why' in told) die(told);
        else listener(told);
      }
    },
    kill: () => die({ why: 'killed' }),
    listen(given: typeof listener) {
      listener = given;
    },
    limit: () => {},
    onSlow: () => {},
  };
  return planReplay({
    script: await loadScript("export const meta = { name: 'a', description: 'd' }\n", { filename: 'a.js' }),
    argsJson: undefined,
    backend: { name: 'none', madeUp: false },
    definitions: new Map(),
    builtInTypes: [],
    anyAgentType: false,
    limits: { turnTimeoutMs: 30_000, memoryMb: 128, budgetTokens: null } as PlanOptions['limits'],
    match: 'content',
    carried: { lines: [answer(1), answer(2)], damage: {} as never, readOutput, readEntry: () => ({}) as never },
    sandbox,
    projectRoot: '/',
    startFolder: '/',
    openWorkflow: () => Promise.reject(new Error('no child is asked for')),
    hashDeps: () => Promise.reject(new Error('no file is asked for')),
  });
}

const SMALL = Buffer.from('""');

it('a sandbox that is gone before the first rest is not waited for', { timeout: AT_ONCE_MS }, async () => {
  const plan = await planWith(
    ({ t }) =>
      t === 'start'
        ? [
            { t: 'events', got: 1, rest: false, events: [CALL] },
            { why: 'died', detail: 'SIGSEGV' },
          ]
        : [],
    () => SMALL,
  );
  expect({ live: plan.calls.length, further: plan.further, warnings: plan.warnings }).toEqual({
    live: 1,
    further: [],
    warnings: ['The sandbox ended before the first rest (died).'],
  });
});

it('an answer that can no longer be read ends the look, not the plan', { timeout: AT_ONCE_MS }, async () => {
  const fillsTheWindow = Buffer.alloc(5 << 20, ' ');
  const plan = await planWith(
    ({ t }) => {
      if (t === 'start') return [{ t: 'events', got: 1, rest: true, events: [CALL] }];
      return t === 'deliver' ? [{ t: 'need', kept: 2, got: 3 }] : [];
    },
    ({ kept }) => {
      if (kept === 2) throw new Error('EIO');
      return fillsTheWindow;
    },
  );
  expect({ live: plan.calls.length, unreached: plan.unreached.length, warnings: plan.warnings }).toEqual({
    live: 1,
    unreached: 2,
    warnings: [],
  });
});
