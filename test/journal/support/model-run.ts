/** A run as its journal shows it: writes lines as the engine does, and knows what a resume must find. */
import { encodeHit, encodeResult, encodeScript, encodeTimer } from './lines.js';
import { type CarriedLines, carryLines, type KeptLine, type KeptResult } from '../../../src/journal/carry.js';
import { createMemoryStore, memorySource } from '../../../src/journal/memory-store.js';
import { keyOf } from './arbitraries.js';

export interface ModelRun {
  readonly id: string;
  /** What it took over. */
  readonly carried: CarriedLines | undefined;
  /** A live answer; `name` makes its key and its answer. */
  live(name: string, more?: { path?: string; nth?: number; label?: string; kind?: 'ok' | 'failed' | 'skipped' }): void;
  /** Delivers a kept line to a call that may have another place and label than the one that it was made for. */
  hit(kept: number, more?: { path?: string; nth?: number; label?: string; n?: number }): void;
  timer(n: number, ms: number): void;
  script(name: string, source: string): void;
  bytes(): Buffer;
  resume(id: string): ModelRun;
}

export function startModelRun(id: string, from?: ModelRun): ModelRun {
  const store = createMemoryStore();
  const carried = from === undefined ? undefined : carryLines(memorySource(from.bytes()), from.id, store);
  let seq = 0;
  let calls = 0;
  const run: ModelRun = {
    id,
    carried,
    live(name, { path = '', nth = 0, label = name, kind = 'ok' } = {}) {
      const entry = { seq: ++seq, n: ++calls, key: keyOf(name), path, nth, label, kind, prompt: `do ${name}` };
      store.append(
        kind === 'ok'
          ? encodeResult({ ...entry, usage: { inputTokens: 1, outputTokens: 2 } }, JSON.stringify(`${name} of ${id}`))
          : encodeResult({ ...entry, error: { code: 'WF_CALL_FAILED', message: 'no' } }, undefined),
      );
    },
    hit(kept, more = {}) {
      const line = carried?.lines.find((candidate) => candidate.kept === kept);
      if (line?.type !== 'result') throw new Error(`no kept result ${kept}`);
      const { key, path, nth, label = '' } = line;
      store.append(encodeHit({ seq: ++seq, n: ++calls, key, path, nth, label, of: kept, ...more }));
    },
    timer: (n, ms) => store.append(encodeTimer({ seq: ++seq, n, ms, path: '' })),
    script: (name, source) => store.append(encodeScript({ name, path: null, sha256: keyOf(source), source })),
    bytes: () => store.bytes(),
    resume: (next) => startModelRun(next, run),
  };
  return run;
}

export const keptResults = (lines: readonly KeptLine[]): KeptResult[] => lines.filter((line) => line.type === 'result');
