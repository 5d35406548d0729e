/** Writes the lines of one run in order, and says once when the journal cannot be written. */
import { hitText, resultText, scriptText, timerText } from '../journal/encode.js';
import type { ScriptEntry } from '../journal/entry.js';
import type { JournalStore } from '../journal/store.js';
import { isoTime } from '../shared/clock.js';
import type { LiveCall } from './engine-options.js';
import { createPlaceCounter } from './place-counter.js';
import type { SettledOutcome } from './settled-call.js';

export interface RunJournal {
  /** Writes the outcome of a call; what is delivered later is confirmed by `delivered(n)`. */
  writeResult(call: LiveCall, outcome: SettledOutcome, details: ResultDetails): void;
  writeHit(hit: {
    n: number;
    key: string;
    path: string;
    nth: number;
    label: string;
    phase: string | null;
    of: number;
  }): void;
  /** A timer that fires now; its delivery is confirmed by its id. */
  writeTimer(id: number, timer: { n: number; ms: number; path: string }): void;
  writeReplayedTimer(timer: { n: number; ms: number; path: string }): void;
  writeScript(script: Pick<ScriptEntry, 'name' | 'path' | 'sha256' | 'source'>): void;
  /** Appends lines that were made of what was handed out. */
  write(lines: Buffer): void;
  /** The sandbox has delivered what was written under this call number or timer id. */
  delivered(id: number): void;
}

export interface ResultDetails {
  promptJson: string;
  backend: string;
  madeUp: boolean | undefined;
  endedAt: number;
}

/**
 * @param append takes the text of each line, in pieces; it comes back to `write` sealed, perhaps together with others
 * @param onFailure called once, with the reason, when lines cannot be written and stay in memory
 */
export function createRunJournal(
  store: JournalStore,
  append: (pieces: readonly string[]) => void,
  onFailure: (reason: string) => void,
): RunJournal {
  const places = createPlaceCounter();
  /** Places of live deliveries that the sandbox has not confirmed. */
  const unconfirmed = new Map<number, number>();
  let warned = false;

  const takeLive = (id: number): number => {
    const place = places.takeLive();
    unconfirmed.set(id, place);
    return place;
  };

  return {
    writeResult(call, outcome, details) {
      const ok = outcome.kind === 'ok';
      const { key, path, nth, label, phase } = call;
      const entry = {
        seq: takeLive(call.n),
        n: call.n,
        key,
        path,
        nth,
        label,
        phase,
        kind: outcome.kind,
        madeUp: details.madeUp,
        usage: outcome.usage,
        worktrees: outcome.worktrees,
        lastTry: ok ? outcome.lastTry : undefined,
        error: ok ? undefined : { code: outcome.error.code, message: outcome.error.message },
        backend: details.backend,
        model: ok ? outcome.model : undefined,
        sessionId: outcome.session,
        attempts: outcome.attempts,
        startedAt: isoTime(call.startedAt || details.endedAt),
        endedAt: isoTime(details.endedAt),
        opts: call.options as Record<string, unknown> | undefined,
      };
      append(resultText(entry, ok ? outcome.output : undefined, details.promptJson));
    },
    writeHit: (hit) => append([hitText({ seq: places.takeReplayed(), ...hit })]),
    writeTimer: (id, timer) => append([timerText({ seq: takeLive(id), ...timer })]),
    writeReplayedTimer: (timer) => append([timerText({ seq: places.takeReplayed(), ...timer })]),
    writeScript: (script) => append([scriptText(script)]),
    write(lines) {
      if (store.append(lines) || warned) return;
      warned = true;
      onFailure(store.unwritten.reason ?? 'unknown cause');
    },
    delivered(id) {
      const place = unconfirmed.get(id);
      if (place === undefined) return;
      unconfirmed.delete(id);
      places.delivered(place);
    },
  };
}
