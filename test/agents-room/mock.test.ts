import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { executeCall } from '../../src/agents/execute-call.js';
import { createMockBackend, type MockOptions } from '../../src/agents/mock/mock-backend.js';
import { compileSchema } from '../../src/agents/schema-compile.js';
import { makeFileFolder } from '../support/temp-folder.js';
import { KEY, makeContext, makePolicy, makeRequest } from './call-kit.js';

const folder = makeFileFolder('mock');

const write = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

async function answer(
  options: MockOptions,
  request: Parameters<typeof makeRequest>[0] = {},
  context = makeContext(),
): Promise<unknown> {
  const outcome = await executeCall(await createMockBackend(options), makeRequest(request), makePolicy(), context);
  return outcome.kind === 'ok' ? JSON.parse(outcome.output) : outcome;
}

describe('rules', () => {
  test('the first that matches wins', async () => {
    const rules = [{ when: { label: 'a' }, reply: 'one' }, { when: { label: /^a/ }, reply: 'two' }, { reply: 'three' }];
    expect(await answer({ rules }, { label: 'a' })).toBe('one');
    expect(await answer({ rules }, { label: 'ab' })).toBe('two');
    expect(await answer({ rules }, { label: 'b' })).toBe('three');
  });

  test('prompt holds the text, label and phase equal it; a regular expression is searched', async () => {
    const rules = [
      { when: { prompt: 'main.js', phase: 'Review' }, reply: 1 },
      { when: { prompt: '/^fix .* NOW$/i' }, reply: 2 },
      { when: { prompt: /x/g }, reply: 3 },
      { when: { nth: 1 }, reply: 4 },
      { when: { label: '/usr/bin' }, reply: 5 },
    ];
    const backend = await createMockBackend({ rules });
    const ask = async (request: Parameters<typeof makeRequest>[0]) =>
      (await backend.run({ ...makeRequest(request), attempt: 1, session: undefined }, makeContext() as never)).text;
    expect(await ask({ prompt: 'look at main.js', phase: 'Review' })).toBe('1');
    expect(await ask({ prompt: 'look at main.js', phase: 'Rev' })).toContain('Made-up');
    expect(await ask({ prompt: 'Fix it now' })).toBe('2');
    expect([await ask({ prompt: 'x' }), await ask({ prompt: 'x' })]).toEqual(['3', '3']);
    expect(await ask({ nth: 1 })).toBe('4');
    expect(await ask({ label: '/usr/bin' })).toBe('5');
  });

  test('a reply is text as is, else JSON; a schema checks it as any answer', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    expect(await answer({ rules: [{ reply: { n: 1 } }] }, { schema })).toEqual({ n: 1 });
    expect(await answer({ rules: [{ reply: 'so: {"n":2}' }] }, { schema })).toEqual({ n: 2 });
    expect(await answer({ rules: [{ reply: { n: 'x' } }] }, { schema })).toMatchObject({
      error: { code: 'WF_SCHEMA_UNMET' },
      attempts: 3,
    });
    expect(await answer({ rules: [{ reply: 'text' }] }, { schema: { type: 'string' } })).toBe('text');
    expect(await answer({ rules: [{ reply: null }] }, { schema: { type: 'null' } })).toBeNull();
    expect(await answer({ rules: [{ reply: { n: 1 } }] })).toBe('{"n":1}');
  });

  test('delay, hang and cancel', async () => {
    const context = makeContext();
    const outcome = answer({ rules: [{ reply: 'x', delayMs: 100_000 }] }, {}, context);
    context.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    expect(await answer({ rules: [{ reply: 'x', delayMs: 5 }] })).toBe('x');
  });

  test('an error with its details', async () => {
    const rules = [
      {
        error: 'usage_limit',
        message: 'come back',
        resetsAt: '2026-12-01T00:00:00Z',
        usage: { in: 3, out: 4, usd: 0.5 },
      },
    ];
    expect(await answer({ rules: rules as never })).toMatchObject({
      error: { code: 'WF_USAGE_LIMIT', message: 'come back', resetsAt: '2026-12-01T00:00:00Z' },
      usage: { inputTokens: 3, outputTokens: 4, usd: 0.5 },
    });
  });

  test.each([
    ['json', '[{"when":{"label":"review"},"reply":"from JSON"}]', 'from JSON'],
    ['yaml', '# comment\n- when: { label: /^rev/i }\n  reply: from YAML\n- hang: true\n', 'from YAML'],
    ['yml', '- reply: { a: [1, 2] }', '{"a":[1,2]}'],
  ])('from a %s file', async (extension, text, expected) => {
    expect(await answer({ file: write(`rules.${extension}`, text) })).toBe(expected);
  });

  test.each<[string, string, RegExp]>([
    [
      'rules.json',
      '[{"reply":1},{"reply":2,"error":"server"}]',
      /Rule 1: it needs exactly one of reply, error and hang, and has reply and error/,
    ],
    ['rules.json', '[{"when":{"label":"x"}}]', /Rule 0: .*has none of them/],
    ['rules.json', '[{"reply":1},{"when":{"promt":"x"},"reply":1}]', /Rule 1 at when: .*promt/],
    ['rules.json', '[{"error":"sever"}]', /Rule 0 at error: /],
    ['rules.json', '[{"reply":1,"usage":{"in":-1,"out":2}}]', /Rule 0 at usage/],
    ['rules.json', '[{"when":{"prompt":"/(/"},"reply":1}]', /Rule 0: Invalid regular expression/],
    ['rules.json', '{"reply":1}', /must hold a list of rules/],
    ['rules.json', '[{', /JSON/],
    ['rules.yaml', '- a: [', /rules\.yaml/],
    ['none.json', '', /no such file/],
  ])('%s %j is refused by name of the rule', async (name, text, message) => {
    const file = name === 'none.json' ? join(folder, name) : write(name, text);
    await expect(createMockBackend({ file })).rejects.toThrow(
      expect.objectContaining({ code: 'WF_MOCK_FILE', message: expect.stringMatching(message) }),
    );
  });
});

describe('made-up answers', () => {
  test('are marked, and name label and key', async () => {
    expect((await createMockBackend()).capabilities.madeUp).toBe(true);
    expect(await answer({}, { label: 'review' })).toBe(`Made-up answer to review (${KEY.slice(0, 8)}).`);
  });

  test('come at once, without a timer', async () => {
    const backend = await createMockBackend();
    const before = process.getActiveResourcesInfo().length;
    await backend.run({ ...makeRequest(), attempt: 1, session: undefined }, makeContext() as never);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
  });

  test.each<[string, object]>([
    [
      'a review',
      {
        type: 'object',
        properties: {
          file: { type: 'string' },
          defects: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                line: { type: 'integer', minimum: 1 },
                severity: { enum: ['low', 'high'] },
                text: { type: 'string', minLength: 5 },
              },
              required: ['line', 'severity', 'text'],
              additionalProperties: false,
            },
            minItems: 1,
          },
        },
        required: ['file', 'defects'],
        additionalProperties: false,
      },
    ],
    ['nullable', { type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] }],
    ['a list', { type: 'array', items: { type: 'string', format: 'date-time' }, minItems: 2, maxItems: 4 }],
    ['a number', { type: 'number', minimum: 0, maximum: 1 }],
    [
      'const and oneOf',
      {
        oneOf: [
          { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'], additionalProperties: false },
          {
            type: 'object',
            properties: { kind: { const: 'b' }, n: { type: 'integer' } },
            required: ['kind', 'n'],
            additionalProperties: false,
          },
        ],
      },
    ],
    [
      '$ref and recursion',
      {
        $ref: '#/$defs/node',
        $defs: {
          node: {
            type: 'object',
            properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
            required: ['name'],
          },
        },
      },
    ],
    [
      'formats',
      {
        type: 'object',
        properties: {
          mail: { type: 'string', format: 'email' },
          at: { type: 'string', format: 'uri' },
          id: { type: 'string', format: 'uuid' },
          day: { type: 'string', format: 'date' },
        },
        required: ['mail', 'at', 'id', 'day'],
      },
    ],
    [
      'a pattern',
      { type: 'object', properties: { id: { type: 'string', pattern: '^[A-Z]{3}-[0-9]{2,4}$' } }, required: ['id'] },
    ],
    [
      'unique items',
      { type: 'array', items: { type: 'integer', minimum: 0, maximum: 9 }, uniqueItems: true, minItems: 3 },
    ],
    ['anything', {}],
    [
      'draft-07',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'array',
        items: [{ type: 'string' }, { type: 'integer' }],
        minItems: 2,
        additionalItems: false,
      },
    ],
  ])('fit the schema and are the same for the same key: %s', async (_name, schema) => {
    for (let i = 0; i < 25; i++) {
      const key = i.toString(16).padStart(2, '0').repeat(32);
      const first = await answer({}, { schema, key });
      expect(compileSchema(schema)(first)).toEqual([]);
      expect(await answer({}, { schema: structuredClone(schema), key })).toEqual(first);
    }
  });

  test('another key gives another answer', async () => {
    const schema = { type: 'string', minLength: 12 };
    expect(await answer({}, { schema, key: '1'.repeat(64) })).not.toEqual(
      await answer({}, { schema, key: '2'.repeat(64) }),
    );
  });

  test('a schema that nothing fits fails as one that was not met', async () => {
    const schema = { allOf: [{ type: 'string' }, { type: 'number' }] };
    expect(await answer({}, { schema })).toMatchObject({
      kind: 'failed',
      error: { code: 'WF_SCHEMA_UNMET', message: expect.stringContaining('--mock') },
      tell: 'throw',
    });
  });
});
