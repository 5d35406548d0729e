/** docs/config.md and the published JSON schema say what the code checks. */
import { Ajv } from 'ajv';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeConfigSchema } from '../../src/config/config-schema.js';
import { makeJsonSchema } from '../../src/config/json-schema.js';
import { SETTINGS } from '../../src/config/settings.js';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Described {
  description?: string;
  properties?: Record<string, Described>;
  additionalProperties?: Described;
}

const schema = (await makeJsonSchema()) as Described;

/** First cells, in backticks, and last cells of the table under a heading. */
const rowsUnder = (heading: string): string[][] =>
  (read('docs/config.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

describe('docs/config.md', () => {
  it('has a row for each setting, with its variable, its flag and its meaning', () => {
    expect(rowsUnder('Settings')).toEqual(
      SETTINGS.map(({ key, variable, flag }) => [
        `\`${key}\``,
        `\`${variable}\``,
        `\`${flag}\``,
        schema.properties?.[key]?.description,
      ]),
    );
  });

  it('has a row for each setting of a command; those of the other backends stand in docs/backends.md', () => {
    const kinds = Object.entries(schema.properties?.backends?.properties ?? {});
    const fieldsOf = (set: Described | undefined) =>
      Object.entries((set?.additionalProperties ?? set)?.properties ?? {});
    const { command, ...others } = Object.fromEntries(kinds);
    expect(rowsUnder('Backends')).toEqual(
      fieldsOf(command).map(([field, { description }]) => [`\`command.<name>.${field}\``, description]),
    );
    const page = read('docs/backends.md');
    const fields = Object.values(others).flatMap(fieldsOf);
    expect(fields.filter(([field]) => !page.includes(`\`${field}\``))).toEqual([]);
  });

  it('shows an example that is a sound config', async () => {
    const example = /```json\n([\s\S]*?)```/.exec(read('docs/config.md'))?.[1] ?? '';
    (await makeConfigSchema()).parse(JSON.parse(example));
  });
});

describe('types/wf.schema.json', () => {
  it('is not stale: node scripts/make-config-schema.mjs makes it anew', () => {
    expect(JSON.parse(read('types/wf.schema.json'))).toEqual(schema);
  });

  it('judges as the check does', async () => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true, formats: { uri: true } });
    const validate = ajv.compile(JSON.parse(read('types/wf.schema.json')));
    const check = await makeConfigSchema();
    const texts = [
      '{}',
      '{"backend":""}',
      '{"backend":"x","concurrency":0}',
      '{"concurrency":1.5}',
      '{"retries":3,"budget":"500k","timeout":90,"memory":"1GB"}',
      '{"timeout":"soon"}',
      '{"budgett":1}',
      '{"secrets":["A_KEY"]}',
      '{"secrets":["a key"]}',
      '{"models":{"fast":{"command":"small"}}}',
      '{"models":{"fast":"small"}}',
      '{"backends":{"command":{"x":{"argv":["a"]}}}}',
      '{"backends":{"command":{"x":{"argv":[]}}}}',
      '{"backends":{"command":{"no name":{"argv":["a"]}}}}',
      '{"backends":{"nobody":{}}}',
    ];
    const verdicts = texts.map((text) => [text, check.safeParse(JSON.parse(text)).success]);
    expect(texts.map((text) => [text, validate(JSON.parse(text))])).toEqual(verdicts);
    expect(verdicts.filter(([, fits]) => fits)).toHaveLength(5);
  });
});
