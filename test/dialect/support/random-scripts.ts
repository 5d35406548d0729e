/**
 * Generated workflow scripts, and what each of them must return: a small model of the dialect, in which an agent answers
 * with its own prompt. What a script returns never depends on the order in which answers come.
 */
import * as fc from 'fast-check';

/** A piece of script that gives a value or throws. */
export type Piece =
  | { kind: 'agent'; prompt: string; fails: boolean; schema: boolean; settled: boolean }
  | { kind: 'value'; value: number }
  | { kind: 'throw'; late: boolean }
  | { kind: 'timer'; ms: number }
  | { kind: 'caught'; inner: Piece }
  | { kind: 'loop'; times: number; inner: Piece }
  | { kind: 'all'; parts: Piece[] }
  | { kind: 'parallel'; parts: Piece[]; isAsync: boolean }
  | { kind: 'pipeline'; items: number; stages: Stage[] }
  | { kind: 'child'; id: number; inner: Piece };

type Stage =
  | { kind: 'agent'; prompt: string }
  | { kind: 'null' }
  | { kind: 'pair' }
  | { kind: 'throwAt'; index: number };

const word = fc.integer({ min: 0, max: 9 }).map((n) => `p${n}`);

const agentPiece: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('agent' as const),
  prompt: word,
  fails: fc.nat(5).map((n) => n === 0),
  schema: fc.boolean(),
  settled: fc.nat(4).map((n) => n === 0),
});
const leaf: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 6, arbitrary: agentPiece },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('value' as const), value: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('throw' as const), late: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('timer' as const), ms: fc.nat(4) }) },
);
const stage: fc.Arbitrary<Stage> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('agent' as const), prompt: word }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'null' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'pair' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('throwAt' as const), index: fc.nat(3) }) },
);

export const pieces: fc.Arbitrary<Piece> = fc
  .letrec<{ piece: Piece }>((tie) => {
    const parts = fc.array(tie('piece'), { minLength: 0, maxLength: 4 });
    return {
      piece: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        leaf,
        fc.record({ kind: fc.constant('parallel' as const), parts, isAsync: fc.boolean() }),
        fc.record({
          kind: fc.constant('pipeline' as const),
          items: fc.nat(4),
          stages: fc.array(stage, { minLength: 0, maxLength: 3 }),
        }),
        fc.record({ kind: fc.constant('all' as const), parts }),
        fc.record({ kind: fc.constant('loop' as const), times: fc.nat(3), inner: tie('piece') }),
        fc.record({ kind: fc.constant('caught' as const), inner: tie('piece') }),
        fc.record({ kind: fc.constant('child' as const), id: fc.constant(0), inner: tie('piece') }),
      ),
    };
  })
  .piece.map(numberChildren);

/** Gives each child workflow a number, and so a file, of its own. */
function numberChildren(piece: Piece): Piece {
  let next = 0;
  const number = (one: Piece): Piece => {
    if (one.kind === 'child') return { ...one, id: next++, inner: number(one.inner) };
    if ('inner' in one) return { ...one, inner: number(one.inner) };
    return 'parts' in one ? { ...one, parts: one.parts.map(number) } : one;
  };
  return number(piece);
}

const meta = (name: string): string => `export const meta = { name: '${name}', description: 'Generated.' }\n`;
const SCHEMA = "{ type: 'object', properties: { said: { type: 'string' } }, required: ['said'] }";

export interface Generated {
  main: string;
  /** File name → text. */
  children: Record<string, string>;
}

export function writeScripts(piece: Piece): Generated {
  const children: Record<string, string> = {};
  const code = write(piece, children);
  return {
    main: `${meta('main')}try {\n  return { value: await ${code} }\n} catch (error) {\n  return { threw: true }\n}\n`,
    children,
  };
}

/** An expression that is a value or a promise; it may throw at once. */
function write(piece: Piece, children: Record<string, string>): string {
  const inner = (one: Piece): string => write(one, children);
  switch (piece.kind) {
    case 'agent': {
      const prompt = `${piece.fails ? 'fail ' : ''}${piece.prompt}`;
      return `agent${piece.settled ? '.settled' : ''}('${prompt}'${piece.schema ? `, { schema: ${SCHEMA} }` : ''})`;
    }
    case 'value':
      return String(piece.value);
    case 'throw':
      return piece.late
        ? "(async () => { await null; throw new Error('late') })()"
        : "(() => { throw new Error('now') })()";
    case 'timer':
      return `new Promise((resolve) => setTimeout(resolve, ${piece.ms}, 'time'))`;
    case 'caught':
      return `(async () => { try { return await ${inner(piece.inner)} } catch { return 'caught' } })()`;
    case 'loop':
      return `(async () => { const all = []; for (let i = 0; i < ${piece.times}; i++) all.push(await ${inner(piece.inner)}); return all })()`;
    case 'all':
      // What is thrown here would leave the other parts to themselves, and how far they come is a matter of time.
      return `Promise.all([${piece.parts.map((part) => inner({ kind: 'caught', inner: part })).join(', ')}])`;
    case 'parallel':
      return `parallel([${piece.parts.map((part) => `${piece.isAsync ? 'async ' : ''}() => ${inner(part)}`).join(', ')}])`;
    case 'pipeline': {
      const items = Array.from({ length: piece.items }, (_, i) => i);
      return `pipeline(${[JSON.stringify(items), ...piece.stages.map(writeStage)].join(', ')})`;
    }
    case 'child': {
      const file = `child-${piece.id}.js`;
      children[file] = `${meta(file)}return [args.n, await ${inner(piece.inner)}]\n`;
      return `workflow({ scriptPath: '${file}' }, { n: ${piece.id} })`;
    }
  }
}

function writeStage(stage: Stage): string {
  switch (stage.kind) {
    case 'agent':
      return `(prev, item, i) => agent('${stage.prompt} ' + JSON.stringify(prev) + item + i)`;
    case 'null':
      return '() => null';
    case 'pair':
      return 'async (prev, item, i) => [prev, item + i]';
    case 'throwAt':
      return `(prev, item, i) => { if (i === ${stage.index}) throw new Error('stage'); return prev }`;
  }
}

/** What the model's agents answer to a prompt; `undefined`: they fail. */
export const answerTo = (prompt: string): string | undefined =>
  prompt.startsWith('fail') ? undefined : `said: ${prompt}`;

class Thrown extends Error {}

/** What the script of a piece must return. */
export function expectedOf(piece: Piece): unknown {
  return orElse(() => ({ value: evaluate(piece, false) }), { threw: true });
}

function orElse(work: () => unknown, instead: unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof Thrown) return instead;
    throw error;
  }
}

function evaluate(piece: Piece, inChild: boolean): unknown {
  const inner = (one: Piece): unknown => evaluate(one, inChild);
  switch (piece.kind) {
    case 'agent': {
      const text = answerTo(`${piece.fails ? 'fail ' : ''}${piece.prompt}`);
      const value = text !== undefined && piece.schema ? { said: text } : text;
      if (!piece.settled) return value ?? null;
      if (value !== undefined) return { ok: true, value };
      return { ok: false, cause: { name: 'Error', code: 'WF_AGENT_FAILED', message: 'failed as asked' } };
    }
    case 'value':
      return piece.value;
    case 'throw':
      throw new Thrown();
    case 'timer':
      return 'time';
    case 'caught':
      return orElse(() => inner(piece.inner), 'caught');
    case 'loop':
      return Array.from({ length: piece.times }, () => inner(piece.inner));
    case 'all':
      return piece.parts.map((part) => orElse(() => inner(part), 'caught'));
    case 'parallel':
      return piece.parts.map((part) => orElse(() => inner(part), null));
    case 'pipeline':
      return Array.from({ length: piece.items }, (_, i) => orElse(() => throughStages(piece.stages, i), null));
    case 'child':
      // One level is the limit.
      if (inChild) throw new Thrown();
      return [piece.id, evaluate(piece.inner, true)];
  }
}

function throughStages(stages: readonly Stage[], item: number): unknown {
  let value: unknown = item;
  for (const stage of stages) {
    if (stage.kind === 'agent') value = answerTo(`${stage.prompt} ${JSON.stringify(value)}${item}${item}`) ?? null;
    else if (stage.kind === 'null') value = null;
    else if (stage.kind === 'pair') value = [value, item + item];
    else if (stage.index === item) throw new Thrown();
  }
  return value;
}
