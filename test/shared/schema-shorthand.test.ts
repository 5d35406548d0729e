/** Which schemas count as meant ones: no keyword of a draft, of OpenAPI or of somebody's own makes one a shorthand. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findShorthand } from '../../src/shared/schema-shorthand.js';

/** Meta-schemas of the drafts, as Ajv has them. */
const REFS = join(dirname(createRequire(import.meta.url).resolve('ajv/package.json')), 'dist', 'refs');

const keywordsOf = (file: string): string[] =>
  Object.keys(JSON.parse(readFileSync(join(REFS, file), 'utf8')).properties ?? {});

it.each([
  ['draft-06', ['json-schema-draft-06.json']],
  ['draft-07', ['json-schema-draft-07.json']],
  ...['2019-09', '2020-12'].map((draft): [string, string[]] => {
    const folder = join(`json-schema-${draft}`, 'meta');
    return [draft, readdirSync(join(REFS, folder)).map((file) => join(folder, file))];
  }),
])('every keyword of %s is known', (_, files) => {
  const keywords = files.flatMap(keywordsOf);
  expect(keywords.length).toBeGreaterThan(30);
  expect(keywords.filter((name) => findShorthand({ [name]: true }) !== undefined)).toEqual([]);
});

it('words of OpenAPI, of editors and of somebody’s own say nothing against a schema', () => {
  for (const name of ['nullable', 'example', 'discriminator', 'xml', 'externalDocs', 'markdownDescription', 'x-order'])
    expect(findShorthand({ description: 'anything', [name]: true }), name).toBeUndefined();
});

it('other names do, where nothing limits what fits', () => {
  expect(findShorthand({ title: 'string', count: 'number' })).toBe('count');
  expect(findShorthand({ type: 'object', count: 'number' })).toBeUndefined();
  expect(findShorthand({})).toBeUndefined();
});
