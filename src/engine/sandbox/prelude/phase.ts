import { config, hostCall } from './host.js';
import { G, lock, PString, textSlice } from './primordials.js';

let current: string | undefined;

/** Group of calls that name none. All calls of a child stand under the child's own group. */
export const currentPhase = (): string | undefined => config.fixedPhase ?? current;

lock(
  G,
  'phase',
  function phase(title: unknown): void {
    const text = textSlice(PString(title), 0, 1000);
    if (config.fixedPhase !== null) return;
    current = text;
    hostCall(0, 'phase', text);
  },
  true,
);
