/**
 * The plan of a resume: the replay up to its first rest, with nothing dispatched and nothing written. What it names as
 * hits is what the resume delivers until then; what it names as live is what the resume dispatches first.
 */
import type { KeptResult } from '../journal/carry.js';
import { WfError } from '../shared/errors.js';
import { createAnswerFeeder } from './answer-feeder.js';
import type { EngineOptions } from './engine-options.js';
import { isInDoubt, lookFurther } from './look-further.js';
import { wordNotStarted } from './not-started.js';
import { wordScriptWarning } from './run-voice.js';
import type { UpEvent, UpMessage } from './sandbox/frames.js';
import { forSandbox, makeStartHead, sortCarried } from './start-frame.js';

export interface PlannedCall {
  n: number;
  key: string;
  path: string;
  nth: number;
  label: string;
  phase: string | null;
  decision: 'hit' | 'live';
  /** Live calls only. */
  prompt?: string;
  opts?: Record<string, unknown> | undefined;
  /** Hits only: the recorded answer. */
  result?: KeptResult;
}

export interface ReplayPlan {
  calls: PlannedCall[];
  /** Recorded answers that no call has asked for until then. */
  unreached: KeptResult[];
  /** Timers that no record lets fire at once, and that the script still waits for. */
  timers: Set<number>;
  /** What the script asks for behind them where the live ones get an answer that nobody gave: a guess, for reasons only. */
  further: PlannedCall[];
  /** The script came to its end (or to its own error) without anything live. */
  ended: boolean;
  warnings: string[];
}

export type PlanOptions = Pick<
  EngineOptions,
  | 'script'
  | 'argsJson'
  | 'backend'
  | 'definitions'
  | 'builtInTypes'
  | 'anyAgentType'
  | 'limits'
  | 'match'
  | 'carried'
  | 'sandbox'
  | 'projectRoot'
  | 'startFolder'
  | 'openWorkflow'
  | 'hashDeps'
>;

const WARNINGS_KEPT = 50;

const newPlan = (): ReplayPlan => ({
  calls: [],
  unreached: [],
  timers: new Set(),
  further: [],
  ended: false,
  warnings: [],
});

export async function planReplay(options: PlanOptions): Promise<ReplayPlan> {
  const { sandbox, carried, argsJson } = options;
  const lines = sortCarried(carried, options.backend.madeUp, options.match);
  const kept = new Map(lines.answers.map((answer) => [answer.kept, answer]));
  const plan = newPlan();
  let told = plan;
  let onRest = (): void => {};
  const endLook = (): void => {
    if (told !== plan) told.ended = true;
    onRest();
  };
  const recorded = new Map(lines.scripts);
  sandbox.limit(options.limits);

  const rested = new Promise<void>((resolve, reject) => {
    const feeder =
      carried === undefined
        ? undefined
        : createAnswerFeeder(carried, lines.answers, {
            send: (head, body) => sandbox.send(head, body),
            onUnreadable(error) {
              reject(error);
              // In the look nobody hears of that any more: what it wanted was for reasons only.
              endLook();
            },
          });
    const take = (message: UpMessage): void => {
      switch (message.t) {
        case 'events':
          for (const event of message.events) takeEvent(told, kept, event, (n) => feeder?.delivered(n));
          if (message.rest) resolve();
          if (sandbox.resting) onRest();
          return;
        case 'need':
          return feeder?.need(message.kept);
        case 'deps':
          if (told !== plan) return endLook();
          void options
            .hashDeps(message.deps, message.cwd)
            .then((reply) => sandbox.send({ t: 'deps', ...reply }), reject);
          return;
        case 'workflow':
          if (told !== plan) return endLook();
          void options.openWorkflow(message.reference, recorded).then((opened) => {
            if (!opened.ok) sandbox.send({ t: 'workflow', ...opened });
            else
              sandbox.send({
                t: 'workflow',
                ok: true,
                script: forSandbox(opened.script),
                name: opened.script.meta.name,
              });
          }, reject);
          return;
        case 'end':
          told.ended = true;
          onRest();
          if (told !== plan) return;
          if (message.kind === 'fail') plan.warnings.push(`The script ends with an error: ${message.error.message}`);
          return resolve();
      }
    };
    void sandbox.gone.then((death) => {
      if (death.why === 'not-started') return reject(new WfError('WF_SANDBOX_DIED', wordNotStarted(death.code)));
      if (told === plan && death.why !== 'killed')
        plan.warnings.push(`The sandbox ended before the first rest (${death.why}).`);
      resolve();
    });
    sandbox.listen(take);
    sandbox.send(makeStartHead(options, lines), argsJson === undefined ? undefined : Buffer.from(argsJson));
    feeder?.feed();
  });
  try {
    await rested;
    const look = newPlan();
    told = look;
    if (isInDoubt(plan, carried))
      await lookFurther(plan, look, sandbox, () => new Promise((resolve) => (onRest = resolve)));
  } finally {
    sandbox.kill();
  }
  await sandbox.gone;
  plan.further = told.calls;
  const used = new Set(plan.calls.map((call) => call.result));
  plan.unreached = [...lines.answers, ...lines.passed].filter((answer) => !used.has(answer));
  plan.calls.sort((a, b) => a.n - b.n);
  return plan;
}

function takeEvent(
  plan: ReplayPlan,
  kept: Map<number, KeptResult>,
  event: UpEvent,
  delivered: (kept: number) => void,
): void {
  if (event[0] === 'h') {
    const [, n, key, path, nth, label, phase, ordinal] = event;
    delivered(ordinal);
    plan.calls.push({
      n,
      key,
      path,
      nth,
      label,
      phase: phase || null,
      decision: 'hit',
      result: kept.get(ordinal) as KeptResult,
    });
  } else if (event[0] === 'c') {
    const [, n, key, path, nth, label, phase, prompt, opts] = event;
    plan.calls.push({
      n,
      key,
      path,
      nth,
      label,
      phase: phase || null,
      decision: 'live',
      prompt,
      opts: (opts ?? undefined) as Record<string, unknown>,
    });
  } else if (event[0] === 'T') {
    plan.timers.add(event[1]);
  } else if (event[0] === 'x') {
    plan.timers.delete(event[1]);
  } else if (event[0] === 'r') {
    const [, n, label, , code, message] = event;
    warnOnce(plan, `#${n} ${label} is refused: ${code}: ${message}`);
  } else if (event[0] === 'e' && event[3].ofCall !== true) {
    const [, how, slot, error] = event;
    warnOnce(plan, how === 'slot' ? `${slot} becomes null: ${error.message}` : `Nobody catches: ${error.message}`);
  } else if (event[0] === 'w') warnOnce(plan, wordScriptWarning(event[1], event[2]));
}

/** A fault in a wide fan-out comes many times. */
function warnOnce(plan: ReplayPlan, warning: string): void {
  if (plan.warnings.length < WARNINGS_KEPT && !plan.warnings.includes(warning)) plan.warnings.push(warning);
}
