import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { extractJson } from '../../src/agents/extract-json.js';
import { createPatternCheck } from '../../src/agents/pattern-check.js';
import { checkSchema, compileSchema } from '../../src/agents/schema-compile.js';
import { judgeAnswer, judgeValue } from '../../src/agents/schema-guard.js';
import { testSeed } from '../support/seeds.js';

describe('which schemas can be used (B-124)', () => {
  test.each<[string, unknown]>([
    ['empty', {}],
    ['boolean', true],
    ['2020-12 by name', { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{ type: 'string' }] }],
    [
      'draft-07 by name',
      { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }], definitions: { a: {} } },
    ],
    ['tuples without a name', { items: [{ type: 'string' }] }],
    ['recursion', { $ref: '#/$defs/node', $defs: { node: { properties: { next: { $ref: '#/$defs/node' } } } } }],
    [
      'its own $id',
      {
        $id: 'https://example.invalid/a.json',
        $defs: { x: { type: 'string' } },
        properties: { a: { $ref: 'a.json#/$defs/x' } },
      },
    ],
    ['formats, unknown ones too', { properties: { a: { format: 'date-time' }, b: { format: 'my-own' } } }],
    ['unknown keywords', { type: 'object', 'x-note': 1, example: {} }],
    ['required with a pattern', { patternProperties: { '^x': {} }, required: ['xa'], additionalProperties: false }],
    ['an unfillable branch of not', { not: { required: ['a'], additionalProperties: false } }],
  ])('%s: yes', (_name, schema) => {
    expect(checkSchema(schema)).toBeNull();
    expect(checkSchema(structuredClone(schema))).toBeNull();
  });

  test.each<[string, unknown, RegExp]>([
    ['null', null, /^it must be an object or a boolean, not null$/],
    ['a list', [], /not an array$/],
    ['a text', 'object', /not a string$/],
    [
      'an unknown type',
      { type: 'strnig' },
      /^it is not valid JSON Schema 2020-12: \/type must be one of string, number, integer, boolean, object, array, null$/,
    ],
    [
      'a word instead of a schema',
      { properties: { a: 'string' } },
      /2020-12: \/properties\/a must be a schema, such as \{ type: 'string' \}$/,
    ],
    ['a broken part', { properties: { a: { minimum: 'x' } } }, /\/properties\/a\/minimum must be number/],
    ['a remote $ref', { $ref: 'https://example.invalid/x.json' }, /lies outside of the schema, and nothing is fetched/],
    ['a dangling $ref', { $ref: '#/$defs/nope' }, /its \$ref "#\/\$defs\/nope" points to nothing/],
    [
      'another draft',
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      /is not supported; use draft-07 or 2020-12/,
    ],
    ['a broken pattern', { pattern: '(' }, /Invalid regular expression|regex/],
    [
      'required, but shut out',
      { type: 'object', properties: { a: {} }, required: ['a', 'b'], additionalProperties: false },
      /^it requires "b"/,
    ],
    [
      'the same, deep inside',
      { properties: { list: { items: { required: ['x'], additionalProperties: false } } } },
      /its part \/properties\/list\/items requires "x"/,
    ],
  ])('%s: no, with the reason', (_name, schema, reason) => {
    expect(checkSchema(schema)).toMatch(reason);
    expect(checkSchema(schema)).toMatch(reason);
  });

  test('a schema that holds itself is no JSON', () => {
    const schema: Record<string, unknown> = {};
    schema.properties = { a: schema };
    expect(checkSchema(schema)).toMatch(/^it is not plain JSON/);
  });

  test('two schemas of one $id do not disturb each other', () => {
    const one = compileSchema({ $id: 'https://example.invalid/s', type: 'string' });
    const two = compileSchema({ $id: 'https://example.invalid/s', type: 'number' });
    expect([one('x'), one(1).length, two(1), two('x').length]).toEqual([[], 1, [], 1]);
  });
});

describe('what does not fit is named', () => {
  test('at most ten lines, with path and detail', () => {
    const check = compileSchema({
      type: 'array',
      items: { type: 'object', properties: { a: { enum: ['x'] } }, additionalProperties: false },
    });
    expect(check([{ a: 'y' }, { b: 1 }])).toEqual([
      '/0/a must be equal to one of the allowed values: ["x"]',
      '/1 must NOT have additional properties: "b"',
    ]);
    expect(check(Array(1_000).fill(1))).toHaveLength(10);
  });

  test('an inherited name is not a member', () => {
    expect(compileSchema({ required: ['constructor', 'toString'] })({})).toHaveLength(2);
  });

  test('a huge answer that is all wrong costs no memory', () => {
    const before = process.memoryUsage.rss();
    const value = JSON.parse(`[${'0,'.repeat(3_000_000)}0]`) as unknown;
    expect(compileSchema({ items: { type: 'object' } })(value)).toEqual(['/0 must be object']);
    expect(process.memoryUsage.rss() - before).toBeLessThan(400e6);
  });

  for (const count of [500, 1_000, 1_300, 1_400, 1_600, 2_500, 5_000])
    test(`a schema of ${count} flat properties checks as any other`, () => {
      const names = Array.from({ length: count }, (_, i) => `p${i}`);
      const part = { type: 'object', properties: { a: { type: 'string' }, b: { enum: [1, 2] } }, required: ['a'] };
      const properties = Object.fromEntries(names.map((name, i) => [name, i % 2 === 0 ? { type: 'string' } : part]));
      const schema = { type: 'object', properties, required: names, additionalProperties: false };
      expect(checkSchema(schema)).toBeNull();
      const value = Object.fromEntries(names.map((name, i) => [name, i % 2 === 0 ? 'x' : { a: 'y', b: 2 }]));
      const check = compileSchema(schema);
      expect(check(value)).toEqual([]);
      expect(check({ ...value, p2: 1, p3: { b: 3 }, other: 1 })).toEqual([
        '/ must NOT have additional properties: "other"',
        '/p2 must be string',
        "/p3 must have required property 'a'",
        '/p3/b must be equal to one of the allowed values: [1,2]',
      ]);
      expect(check({ ...value, p4: undefined })).toEqual(["/ must have required property 'p4'"]);
      expect(check(1)).toEqual(['/ must be object']);
      expect(check(value)).toEqual([]);
    });

  test('a value nested too deeply is a misfit, not a crash', () => {
    const schema = { $ref: '#/$defs/n', $defs: { n: { type: 'array', items: { $ref: '#/$defs/n' } } } };
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
    expect(compileSchema(schema)(deep)).toEqual(['/ is too large or nested too deeply to be checked']);
  });
});

describe('the JSON of an answer (B-103, B-125)', () => {
  test.each<[string, unknown]>([
    ['{"a":1}', { a: 1 }],
    ['\ufeff {"a":1}\n', { a: 1 }],
    ['"text"', 'text'],
    ['42', 42],
    ['null', null],
    ['Banner line\nv1.2 [ok]\n{"a":1}\nbye', { a: 1 }],
    ['first {"a":1} then {"a":2}.', { a: 2 }],
    ['```json\n{"a":1}\n```\nand\n```\n{"a":2}\n```', { a: 2 }],
    ['```json\n{"a":1}\n```\nrun:\n```sh\nls {x}\n```', { a: 1 }],
    ['```json\n{"code":"a\\n```\\nb"}\n```', { code: 'a\n```\nb' }],
    ['so {"a":{"b":[1,{"c":"}]"}]}} it is', { a: { b: [1, { c: '}]' }] } }],
    ['Use {name} in [brackets], see [1]: {"a":"\\"{"}', { a: '"{' }],
    ['list: [1, 2, 3]', [1, 2, 3]],
    ['{"a":1,} is no JSON but [] is', []],
    ['{"a":1}\n\nI took the ] at its end away, as in a] b}.', { a: 1 }],
    ['Result:\n{"a":["x"]} \r\n- the "}" of line 3 was one too many: }', { a: ['x'] }],
  ])('%j', (text, value) => {
    expect(extractJson(text)).toEqual({ value });
  });

  test.each([
    '',
    '  ',
    'no JSON here',
    '{',
    '{"a":',
    '{"items":[{"a":1},{"a":2}',
    "{'a':1}",
    '{"a":1,}',
    '[1 2]',
    '{"a" 1}',
    '```json\n{oops\n```',
    '"open',
    '{"a":1}]}',
    '{"a":1},"b":{"c":2}}',
    '{result: {"a":1}}',
    '{result: {"a":1}\n}',
    '{"a":1}\n, {"b":2}\n ]',
    '{"a":1}\n]',
  ])('%j holds none', (text) => expect(extractJson(text)).toBeUndefined());

  test('any JSON value is found in any prose around it', () => {
    const prose = fc.constantFrom(
      '',
      'Here you are:\n',
      'It\'s "quoted": ',
      '{not json} ',
      '[x] ',
      '\n\nDone. ',
      ' {"a" ',
    );
    const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    fc.assert(
      fc.property(prose, value, fc.boolean(), (before, json, pretty) => {
        const text = JSON.stringify(json, null, pretty ? 2 : undefined);
        expect(extractJson(`${before}${text} That is all.`)).toEqual({ value: JSON.parse(text) });
      }),
      { seed: testSeed(), numRuns: 1_000 },
    );
  });

  test('B-160 no part of a value is taken for it, wherever it was cut', () => {
    const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    fc.assert(
      fc.property(value, fc.boolean(), fc.nat(), (json, pretty, where) => {
        const text = JSON.stringify(json, null, pretty ? 2 : undefined);
        const cut = 1 + (where % (text.length - 1));
        expect([text.slice(0, cut), text.slice(cut)].map(extractJson)).toEqual([undefined, undefined]);
      }),
      { seed: testSeed(), numRuns: 2_000 },
    );
  });

  test.each<[string, string]>([
    ['open brackets', '['.repeat(1_000_000)],
    ['broken objects', '{"a":[{'.repeat(150_000)],
    ['half objects', '{"'.repeat(100_000)],
    ['brackets and a fault', `${'['.repeat(500_000)}x`],
    ['escaped quotes', `{"${'\\"'.repeat(1_500_000)}`],
    ['fences', '```\n'.repeat(150_000)],
    ['broken fenced blocks', '```\n{oops\n```\n'.repeat(50_000)],
    ['broken strings', '["\\x"]'.repeat(100_000)],
  ])('a long answer of %s takes no long time', (_name, text) => {
    const started = performance.now();
    expect(extractJson(text)).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('judging an answer', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

  test('structured wins over the text and is checked all the same', async () => {
    expect(await judgeAnswer(schema, { text: '{"n":1}', structured: { n: 2 } })).toEqual({
      fits: true,
      output: '{"n":2}',
    });
    expect(await judgeAnswer(schema, { text: '{"n":1}', structured: { n: 'x' } })).toMatchObject({ fits: false });
  });

  test('numbers as texts do not fit', async () => {
    expect(await judgeAnswer(schema, { text: '{"n":"1"}' })).toEqual({ fits: false, errors: ['/n must be integer'] });
  });

  test('prose is shown in the fault', async () => {
    const verdict = await judgeAnswer(schema, { text: 'I will wait for the tests.' });
    expect(verdict).toEqual({ fits: false, errors: ['/ holds no JSON: "I will wait for the tests."'] });
  });

  test('a text that is wanted is not unwrapped', async () => {
    expect(await judgeAnswer({ type: 'string' }, { text: '"{\\"n\\":1}"' })).toEqual({
      fits: true,
      output: '"{\\"n\\":1}"',
    });
  });
});

describe('patterns', () => {
  const hostile = { type: 'object', properties: { a: { type: 'string', pattern: '^(?=a)(a|aa)+$' } } };

  test('are checked, in a thread', async () => {
    const schema = {
      type: 'object',
      properties: { id: { pattern: '^[a-z]+$' } },
      patternProperties: { '^x-': { type: 'number' } },
    };
    expect(await judgeValue(schema, { id: 'abc', 'x-1': 2 })).toMatchObject({ fits: true });
    expect(await judgeValue(schema, { id: 'ABC', 'x-1': 'y' })).toEqual({
      fits: false,
      errors: ['/id must match pattern "^[a-z]+$"', '/x-1 must be number'],
    });
  });

  test('that never end do not block this process, and are a misfit after the limit', async () => {
    const check = createPatternCheck({ limitMs: 300 });
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    const value = JSON.stringify({ a: `${'a'.repeat(60)}!` });
    const [errors, after] = await Promise.all([
      check.check(JSON.stringify(hostile), value),
      // The next check waits its turn and is not hurt.
      check.check(JSON.stringify({ pattern: '^a' }), '"a"'),
    ]);
    clearInterval(timer);
    expect(errors).toEqual(['/ could not be checked: a pattern of the schema took longer than 300 ms']);
    expect(after).toEqual([]);
    expect(ticks).toBeGreaterThan(10);
    await check.close();
  });

  test('the usual catastrophes are run by the linear engine', async () => {
    const schema = { type: 'string', pattern: '^(a+)+$' };
    expect(await judgeValue(schema, `${'a'.repeat(50_000)}!`)).toEqual({
      fits: false,
      errors: ['/ must match pattern "^(a+)+$"'],
    });
  });

  test('a property that is named pattern is no pattern', async () => {
    expect(await judgeValue({ properties: { pattern: { type: 'string' } } }, { pattern: 'x' })).toMatchObject({
      fits: true,
    });
  });

  test('a schema that does not compile there is said so', async () => {
    const check = createPatternCheck();
    await expect(check.check('{"pattern":"("}', '1')).rejects.toThrow('failed: Invalid regular expression');
    expect(await check.check('{"pattern":"a"}', '"b"')).toEqual(['/ must match pattern "a"']);
    await check.close();
  });
});
