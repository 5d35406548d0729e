/** What becomes of each call: executed or answered by a record, written down, told, and handed to the script. */
import type { CallOutcome } from '../agents/execute-call.js';
import { costNothing } from '../agents/price-usage.js';
import type { KeptResult } from '../journal/carry.js';
import { callKey } from '../journal/key.js';
import type { Batch } from './batch.js';
import type { CallRunner } from './call-runner.js';
import { explainUncounted } from './ceilings.js';
import type { Dispatcher } from './dispatcher.js';
import type { EngineEnd, EngineOptions, LiveCall } from './engine-options.js';
import type { RunJournal } from './run-journal.js';
import type { RunVoice } from './run-voice.js';
import type { CallOptions } from './sandbox/call-options.js';
import type { UpEvent } from './sandbox/frames.js';
import type { StartGate } from './start-gate.js';
import type { CallSteering } from './steer-calls.js';
import type { Tally } from './tally.js';

type Told<Type extends UpEvent[0]> = Extract<UpEvent, { 0: Type }>;

export interface RunCalls {
  /** No record answers it: it is executed. */
  dispatch(event: Told<'c'>): void;
  /** The script was given its recorded answer. */
  recordHit(event: Told<'h'>): void;
  /** The script was told at once that it is no call. */
  refuse(event: Told<'r'>): void;
  /** Nobody will hear its answer. */
  abandon(event: Told<'a'>): void;
  /** Resolves when all is told of the calls that have ended. */
  idle(): Promise<void>;
}

/** What of the run a call has to do with. */
export interface CallSurroundings {
  tally: Tally;
  voice: RunVoice;
  journal: RunJournal;
  batch: Batch;
  gate: StartGate;
  dispatcher: Dispatcher;
  runner: CallRunner;
  steering: CallSteering;
  /** Recorded answers by their ordinal. */
  kept: ReadonlyMap<number, KeptResult>;
  /** The script was given that recorded answer. */
  delivered(kept: number): void;
  /** The end of the run is decided. */
  isEnding(): boolean;
  finish(end: EngineEnd): void;
}

export function createRunCalls(options: EngineOptions, run: CallSurroundings): RunCalls {
  const { tally, voice, journal, batch, gate, dispatcher, runner } = run;
  /** Looks at the files of `deps`. */
  const checks = new Set<Promise<void>>();

  const settle = (call: LiveCall, promptJson: string, told: CallOutcome): void => {
    const outcome = run.steering.judge(call.n, told);
    const backend = call.backend ?? options.backend;
    const { madeUp } = backend;
    tally.spend(madeUp ? costNothing(outcome.usage) : outcome.usage);
    const outputUntold = outcome.kind === 'ok' && outcome.outputUntold;
    // One that no backend was asked for has cost nothing.
    gate.end(call.n, outcome.usage, madeUp || outcome.attempts === 0, outputUntold);
    if (outcome.kind === 'cancelled') {
      tally.finish(call.n, 'no-result');
      return voice.tellFinished(call, { ...outcome, status: 'no-result' });
    }
    if (outcome.kind === 'failed' && outcome.shared) {
      tally.finish(call.n, 'no-result', outcome.error);
      voice.tellFinished(call, { ...outcome, status: 'no-result' });
      return run.finish({ how: 'shared-failure', error: outcome.error });
    }
    const ok = outcome.kind === 'ok';
    journal.writeResult(call, outcome, {
      promptJson,
      backend: backend.name,
      madeUp: madeUp || undefined,
      endedAt: options.clock.now(),
    });
    const lastTry = ok && outcome.lastTry;
    tally.finish(call.n, outcome.kind, ok ? undefined : outcome.error, lastTry);
    voice.tellFinished(call, { ...outcome, status: outcome.kind });
    if (call.options?.depsPatterns !== undefined) {
      const check = checkDeps(call).finally(() => checks.delete(check));
      checks.add(check);
    }
    if (run.isEnding()) return;
    if (ok && !madeUp && options.limits.budgetUsd != null && outcome.usage?.usd == null) {
      const model = outcome.model ?? call.options?.model ?? options.model;
      return run.finish({ how: 'shared-failure', error: explainUncounted(call, model) });
    }
    const { name = 'Error', code, message } = ok ? { code: '', message: '' } : outcome.error;
    const json = ok ? outcome.output : JSON.stringify({ name, code, message, tell: outcome.tell });
    batch.addOutcome(call.n, ok, json, outcome.usage?.outputTokens ?? 0, lastTry);
  };

  /** Files that a call depends on must not be written by the workflow itself: its key would not stand for them. */
  const checkDeps = async ({ label, options: given }: LiveCall): Promise<void> => {
    const now = await options.hashDeps(given?.depsPatterns ?? [], given?.cwd ?? null);
    // At a run's end the look may have been cut off: then it has seen nothing.
    if (now.digest === given?.deps || (now.digest === null && run.isEnding())) return;
    voice.warn(
      'WF_DEPS_CHANGED',
      `Files that deps of "${label}" names changed while it ran: a resume will take its answer for out of date.`,
    );
  };

  return {
    dispatch([, n, key, path, nth, label, phaseText, prompt, opts]) {
      const phase = phaseText || null;
      const given = (opts ?? undefined) as CallOptions | undefined;
      const call: LiveCall = {
        n,
        key,
        path,
        nth,
        label,
        phase,
        prompt,
        options: given,
        backend: undefined,
        startedAt: 0,
      };
      tally.see(n, label, phase, key);
      // The sandbox is the less trusted side: a key is made again before anything is spent on it.
      const made = callKey(prompt, given);
      if (made.key !== key) {
        const message = `The sandbox made a wrong key for call ${n}.`;
        return run.finish({ how: 'failed', error: { code: 'WF_INTERNAL', message } });
      }
      options.onLive?.(call);
      voice.tellQueued(n, label, phase, key);
      dispatcher.add({
        n,
        execute: () => {
          call.startedAt = options.clock.now();
          tally.start(n);
          return runner.execute(call);
        },
        settle: (outcome) => settle(call, made.promptJson, outcome),
      });
    },
    recordHit([, n, key, path, nth, label, phaseText, kept]) {
      const phase = phaseText || null;
      const result = run.kept.get(kept);
      if (result === undefined) return;
      journal.writeHit({ n, key, path, nth, label, phase, of: kept });
      tally.see(n, label, phase, key);
      tally.reuse(n, result);
      options.onHit?.(kept);
      run.delivered(kept);
      voice.tellReused({ n, label, phase }, result);
    },
    refuse([, n, label, phaseText, code, message]) {
      const phase = phaseText || null;
      const error = { code, message };
      tally.see(n, label, phase, '');
      tally.finish(n, 'failed', error);
      voice.tellUnstarted({ n, label, phase }, { status: 'failed', error });
    },
    abandon([, n, label, phaseText]) {
      const phase = phaseText || null;
      runner.abort(n);
      const wasQueued = dispatcher.drop(n) !== undefined;
      if (tally.get(n) === undefined) tally.see(n, label, phase, '');
      tally.abandon(n);
      if (wasQueued) voice.tellUnstarted({ n, label, phase }, { status: 'no-result' });
    },
    async idle() {
      await Promise.all(checks);
    },
  };
}
