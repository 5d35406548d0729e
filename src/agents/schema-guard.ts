/**
 * Decides whether an answer fits its call's schema, whatever the backend says of it. The compiler is loaded with the first
 * schema; a schema with patterns is checked in a thread with a time limit, so that it cannot block this process.
 */
import { setFlagsFromString } from 'node:v8';
import type { AgentAnswer } from './backend.js';
import { explainBrokenJson } from './explain-broken-json.js';
import { extractJson } from './extract-json.js';
import type { Mask } from './mask-secrets.js';
import { createPatternCheck, type PatternCheck } from './pattern-check.js';

export type Verdict =
  /** `output`: the answer as JSON text. */
  | { fits: true; output: string }
  /** What does not fit, at most ten lines. */
  | { fits: false; errors: string[] };

interface KnownSchema {
  text: string;
  hasPattern: boolean;
}

const MAX_SHOWN = 300;
/** Longer answers are checked in the thread as well: `uniqueItems` and the like take time that grows with the square. */
const LONG_ANSWER = 200_000;

let compiler: Promise<typeof import('./schema-compile.js')> | undefined;
let loaded: typeof import('./schema-compile.js') | undefined;
let patternCheck: PatternCheck | undefined;
const known = new WeakMap<object, KnownSchema>();

async function loadCompiler(): Promise<typeof import('./schema-compile.js')> {
  if (!compiler) {
    // A regular expression that backtracks too much goes on in V8's linear engine, where that can run it.
    setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
    compiler = import('./schema-compile.js');
  }
  loaded = await compiler;
  return loaded;
}

/** Why the schema cannot be used, or `null`. Known schemas cost next to nothing. */
export async function explainSchema(schema: object): Promise<string | null> {
  return (loaded ?? (await loadCompiler())).checkSchema(schema);
}

/** Takes the answer from `structured`, else from the text, and checks it. */
export async function judgeAnswer(schema: object, answer: AgentAnswer): Promise<Verdict> {
  const found = answer.structured === undefined ? extractJson(answer.text) : { value: answer.structured };
  if (!found) return { fits: false, errors: [explainNoJson(answer.text)] };
  const verdict = await judgeValue(schema, found.value);
  if (verdict.fits || typeof found.value !== 'string') return verdict;
  // Some agents put their JSON into a JSON string once more.
  const inner = extractJson(found.value);
  if (!inner) return verdict;
  const again = await judgeValue(schema, inner.value);
  return again.fits ? again : verdict;
}

function explainNoJson(text: string): string {
  const broken = explainBrokenJson(text);
  if (broken !== undefined) return `/ is not sound JSON: ${broken}`;
  return `/ holds no JSON: ${JSON.stringify(text.slice(0, MAX_SHOWN))}`;
}

/** An escape in JSON text can hide a secret until it is parsed: what is judged, and kept, is the masked value. */
export async function judgeMasked(schema: object, answer: AgentAnswer, mask: Mask | undefined): Promise<Verdict> {
  const verdict = await judgeAnswer(schema, answer);
  if (!mask) return verdict;
  if (!verdict.fits) return { fits: false, errors: verdict.errors.map(mask) };
  const masked = mask(verdict.output);
  return masked === verdict.output ? verdict : await judgeAnswer(schema, { ...answer, structured: JSON.parse(masked) });
}

/** @throws Error when the schema does not compile (it was to be refused before, by `checkSchema`) */
export async function judgeValue(schema: object, value: unknown): Promise<Verdict> {
  const output = JSON.stringify(value);
  if (output === undefined) return { fits: false, errors: ['/ is not a JSON value'] };
  const { compileSchema } = loaded ?? (await loadCompiler());
  const { text, hasPattern } = describeSchema(schema);
  let errors: string[];
  if (hasPattern || output.length > LONG_ANSWER) {
    patternCheck ??= createPatternCheck();
    errors = await patternCheck.check(text, output);
  } else {
    errors = compileSchema(schema)(value);
  }
  return errors.length === 0 ? { fits: true, output } : { fits: false, errors };
}

function describeSchema(schema: object): KnownSchema {
  let entry = known.get(schema);
  if (!entry) {
    const text = JSON.stringify(schema);
    // Too often true for odd data in a schema, never too seldom: in JSON text a quote inside a string has a backslash.
    entry = { text, hasPattern: /"pattern":"|"patternProperties":\{/.test(text) };
    known.set(schema, entry);
  }
  return entry;
}
