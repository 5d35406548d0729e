/**
 * Asks a person once before the run executes more than so many calls. A call starts only after all calls of its turn are
 * known, so that the question names the whole fan-out and comes before its first call.
 */
export interface Confirm {
  /** Calls that may be executed without a question. */
  above: number;
  /** False ends the run as cancelled. */
  /** @param signal aborts when the run ends otherwise, so that nobody is asked any more */
  ask(calls: number, signal: AbortSignal): Promise<boolean>;
}

export interface Confirmation {
  isHeld(): boolean;
  started(): void;
  /** The script has told all that it asks for now. */
  onRest(queued: number): void;
  /** Takes an open question back. */
  close(): void;
}

export function createConfirmation({ above, ask }: Confirm, ports: { wake(): void; cancel(): void }): Confirmation {
  let state: 'open' | 'asking' | 'granted' = 'open';
  const closed = new AbortController();
  let started = 0;
  /** Calls that were known, started ones included, when the script last rested. */
  let known = 0;
  return {
    isHeld: () => state === 'asking' || (state === 'open' && started >= known),
    started() {
      started++;
    },
    onRest(queued) {
      known = started + queued;
      if (state !== 'open' || closed.signal.aborted) return;
      if (known <= above) return ports.wake();
      state = 'asking';
      void ask(known, closed.signal)
        .catch(() => false)
        .then((yes) => {
          if (closed.signal.aborted) return;
          state = 'granted';
          if (yes) ports.wake();
          else ports.cancel();
        });
    },
    close: () => closed.abort(),
  };
}
