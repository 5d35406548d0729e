/** Random journal entries, with the texts that a reader by marks and not by structure would stumble over. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { encodeHit, encodeResult, encodeScript, encodeTimer } from './lines.js';
import type { HitEntry, ResultEntry, ScriptEntry, TimerEntry } from '../../../src/journal/entry.js';

/** Pieces of the format itself, and characters that text handling tends to change. */
const NASTY = [
  ',"output":',
  '"output":1,"size":2',
  ',"sum":"00000000"}',
  '"sum":"',
  ',"kind":"ok"',
  '{"v":1,"type":"result"',
  '\\',
  '\\"',
  '\n',
  '\r',
  '\r\n',
  '\0',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00x',
  'é',
  'e\u0301',
  '💶',
];

export const nastyText = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc
      .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ maxLength: 4 })), { maxLength: 5 })
      .map((parts) => parts.join('')),
  );

/** Any JSON value, `__proto__` and the names of the format among its member names. */
export const jsonValue = (): fc.Arbitrary<unknown> => {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      nastyText(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc
        .array(
          fc.tuple(
            fc.oneof(nastyText(), fc.constantFrom('__proto__', 'constructor', 'output', 'size', 'sum', 'kind')),
            tie('value'),
          ),
          { maxLength: 4 },
        )
        .map((members) => Object.fromEntries(members)),
    ),
  }));
  // As JSON reads it back: no -0, lone surrogates escaped.
  return value.map((made) => JSON.parse(JSON.stringify(made)));
};

export const keyOf = (text: string): string => createHash('sha256').update(text).digest('hex');
/** Few enough that equal calls come up. */
const someKey = (): fc.Arbitrary<string> => fc.constantFrom('a', 'b', 'c').map(keyOf);
const somePath = (): fc.Arbitrary<string> => fc.constantFrom('', 'p0.1', 'p0.2', 'w0/p1.0');
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const usage = (): fc.Arbitrary<ResultEntry['usage']> =>
  maybe(
    fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat(), usd: fc.oneof(fc.constant(null), fc.nat()) }),
  ) as fc.Arbitrary<ResultEntry['usage']>;

const worktree = (): fc.Arbitrary<NonNullable<ResultEntry['worktrees']>[number]> =>
  fc.record({
    path: nastyText(),
    branch: nastyText(),
    base: fc.constant('0123abc'),
    files: fc.array(nastyText(), { maxLength: 2 }),
    fileCount: fc.nat(),
    commits: fc.nat(),
  });

export type ResultFields = Omit<ResultEntry, 'v' | 'type' | 'size' | 'output'>;

/** The fields of a result besides its answer. */
const resultFields = (): fc.Arbitrary<ResultFields> =>
  fc.record({
    seq: fc.nat({ max: 99 }),
    n: fc.integer({ min: 1, max: 99 }),
    key: someKey(),
    path: somePath(),
    nth: fc.nat({ max: 3 }),
    label: maybe(nastyText()),
    phase: maybe(fc.oneof(fc.constant(null), nastyText())),
    kind: fc.constant('ok' as const),
    usage: usage(),
    worktrees: maybe(fc.array(worktree(), { maxLength: 2 })),
    lastTry: maybe(fc.constant(true)),
    madeUp: maybe(fc.constant(true)),
    backend: maybe(nastyText()),
    model: maybe(nastyText()),
    sessionId: maybe(nastyText()),
    attempts: maybe(fc.nat({ max: 9 })),
    startedAt: maybe(fc.constant('2026-01-02T03:04:05.678Z')),
    endedAt: maybe(fc.constant('2026-01-02T03:05:05.678Z')),
    prompt: maybe(nastyText()),
    opts: maybe(fc.dictionary(nastyText(), jsonValue(), { maxKeys: 3 })),
  });

export interface ResultCase {
  fields: ResultFields;
  /** JSON text; undefined for a call without an answer. */
  outputJson: string | undefined;
}

export const anyResult = (): fc.Arbitrary<ResultCase> =>
  fc.oneof(
    fc.record({ fields: resultFields(), outputJson: jsonValue().map((value) => JSON.stringify(value)) }),
    fc.record({
      fields: fc
        .tuple(resultFields(), fc.constantFrom('failed' as const, 'skipped' as const), nastyText())
        .map(([fields, kind, message]) => ({ ...fields, kind, error: { code: 'WF_CALL_FAILED', message } })),
      outputJson: fc.constant(undefined),
    }),
  );

export const anyHit = (): fc.Arbitrary<Omit<HitEntry, 'v' | 'type'>> =>
  fc.record({
    seq: fc.nat({ max: 99 }),
    n: fc.integer({ min: 1, max: 99 }),
    key: someKey(),
    path: somePath(),
    nth: fc.nat({ max: 3 }),
    label: maybe(nastyText()),
    phase: maybe(fc.oneof(fc.constant(null), nastyText())),
    of: fc.integer({ min: 1, max: 20 }),
  });

export const anyTimer = (): fc.Arbitrary<Omit<TimerEntry, 'v' | 'type'>> =>
  fc.record({
    seq: fc.nat({ max: 99 }),
    n: fc.nat({ max: 3 }),
    ms: fc.nat({ max: 999 }),
    path: fc.constantFrom('', 'w0'),
  });

export const anyScript = (): fc.Arbitrary<Omit<ScriptEntry, 'v' | 'type'>> =>
  fc
    .record({ name: nastyText(), path: fc.oneof(fc.constant(null), nastyText()), source: nastyText() })
    .map(({ name, path, source }) => ({ name, path, sha256: keyOf(source), source }));

/** A whole line as the engine writes it, newline included. */
export const anyLine = (): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: 4, arbitrary: anyResult().map(({ fields, outputJson }) => encodeResult(fields, outputJson)) },
    { weight: 2, arbitrary: anyHit().map(encodeHit) },
    { weight: 1, arbitrary: anyTimer().map(encodeTimer) },
    { weight: 1, arbitrary: anyScript().map(encodeScript) },
  );
