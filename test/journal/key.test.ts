import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callKey, type KeyOptions } from '../../src/journal/key.js';
import { canonicalJson } from '../../src/shared/canonical-json.js';
import { testSeed } from '../support/seeds.js';
import { jsonValue, keyOf, nastyText } from './support/arbitraries.js';

const key = (prompt: string, options?: KeyOptions): string => callKey(prompt, options).key;

/** One of each option that changes the work. */
const EACH: KeyOptions = {
  schema: { type: 'object', properties: { a: { type: 'string' } } },
  model: 'small',
  effort: 'high',
  isolation: 'worktree',
  agentType: 'reviewer',
  agentDigest: keyOf('definition'),
  tools: ['Read'],
  disallowedTools: ['Bash'],
  bashCommandClamp: ['git'],
  cwd: 'packages/a',
  backend: 'codex',
  deps: keyOf('files'),
  salt: 1,
};

/** The members of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

describe('the key of a call', () => {
  it('is the sha256 of canonical JSON, so that any other program can make it too', () => {
    expect(key('do A')).toBe(keyOf('{"prompt":"do A","v":1}'));
    expect(key('do A', EACH)).toBe(keyOf(canonicalJson({ ...EACH, prompt: 'do A', v: 1 })));
  });

  it('J15 any schema and salt: the order of members does not matter, anywhere', () => {
    fc.assert(
      fc.property(nastyText(), jsonValue(), jsonValue(), (prompt, schema, salt) => {
        const made = key(prompt, { schema, salt });
        expect(key(prompt, { salt: reversed(salt), schema: reversed(schema) })).toBe(made);
        expect(made).toBe(keyOf(canonicalJson({ v: 1, prompt, schema, salt })));
      }),
      { seed: testSeed() },
    );
  });

  it('J15 two different values of an option, or prompts, never share a key', () => {
    fc.assert(
      fc.property(jsonValue(), jsonValue(), nastyText(), nastyText(), (a, b, promptA, promptB) => {
        const same = canonicalJson(a) === canonicalJson(b);
        expect(key('x', { salt: a }) === key('x', { salt: b })).toBe(same);
        expect(key(promptA) === key(promptB)).toBe(promptA === promptB);
      }),
      { seed: testSeed() },
    );
  });

  it('J15 each option that changes the work changes the key, and no two of them alike', () => {
    const names = Object.keys(EACH) as (keyof KeyOptions)[];
    const keys = names.map((name) => key('x', { [name]: EACH[name] }));
    expect(new Set([key('x'), ...keys]).size).toBe(names.length + 1);
  });

  it('J15 an absent option, an undefined one and an empty set of options are the same', () => {
    expect(key('x', {})).toBe(key('x'));
    const undefinedOnes = Object.fromEntries(Object.keys(EACH).map((name) => [name, undefined]));
    expect(key('x', undefinedOnes)).toBe(key('x'));
    expect(key('x', { schema: { a: 1, b: undefined } })).toBe(key('x', { schema: { a: 1 } }));
  });

  it('J15 the order of an array does matter', () => {
    expect(key('x', { tools: ['Read', 'Bash'] })).not.toBe(key('x', { tools: ['Bash', 'Read'] }));
  });

  it('J15 label, phase, limits and the cache switch of a call are not in it', () => {
    const given = { ...EACH, label: 'L', phase: 'P', timeoutMs: 5, retries: 2, stallMs: 9, cache: true };
    expect(key('x', given)).toBe(key('x', EACH));
  });

  it('lone surrogates stay apart from each other and from the replacement character', () => {
    const texts = ['\ud800', '\ud801', '\udc00', '\ufffd', '\\ud800', '\ud800\udc00', '\udc00\ud800'];
    expect(new Set(texts.map((text) => key(text))).size).toBe(texts.length);
    expect(new Set(texts.map((text) => key('x', { salt: text }))).size).toBe(texts.length);
    expect(new Set(texts.map((text) => key('x', { salt: { [text]: 1 } }))).size).toBe(texts.length);
  });

  it('composed and decomposed characters stay apart: texts are never normalised', () => {
    expect(key('caf\u00e9')).not.toBe(key('cafe\u0301'));
    expect(key('a\r\nb')).not.toBe(key('a\nb'));
    expect(key('a ')).not.toBe(key('a'));
  });

  it('a member named __proto__ counts like any other', () => {
    const schema = JSON.parse('{"__proto__":{"type":"string"}}') as unknown;
    expect(key('x', { schema })).not.toBe(key('x', { schema: {} }));
  });

  it('text cannot pretend to be an option', () => {
    expect(key('x","salt":1,"v":1}')).not.toBe(key('x', { salt: 1 }));
  });

  it('comes with the JSON text of the prompt, whatever the text looks like and whether there are options', () => {
    const check = (prompt: string): void => {
      const promptJson = JSON.stringify(prompt);
      const bare = callKey(prompt, undefined);
      expect(bare).toEqual({ key: keyOf(`{"prompt":${promptJson},"v":1}`), promptJson });
      expect(callKey(prompt, {})).toEqual(bare);
      expect(callKey(prompt, { salt: 1 }).promptJson).toBe(promptJson);
    };
    for (const text of [
      '',
      '"',
      '\\',
      '","v":1}',
      '"}',
      ',"v":1}","v":1}',
      '\u2028\u2029',
      '\ud800',
      '\\"","v":1}\udc00',
    ])
      check(text);
    fc.assert(fc.property(nastyText(), check), { seed: testSeed() });
  });
});
