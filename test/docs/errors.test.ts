import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES, EXIT } from '../../src/shared/errors.js';

const ROOT = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const PAGES = [
  ...['README.md', 'AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
];

/** Environment variables, which look like codes. */
const VARIABLES = new Set(
  'WF_BACKEND WF_MODEL WF_AI_SDK_PROVIDER WF_AI_SDK_BASE_URL WF_EFFORT WF_PERMISSION WF_CONCURRENCY WF_MAX_AGENTS WF_BUDGET WF_BUDGET_USD WF_MIN_FREE_MEM WF_TIMEOUT WF_IDLE_TIMEOUT WF_RETRIES WF_TURN_TIMEOUT WF_MEMORY WF_RUNS_DIR WF_RUN_ID WF_CALL_KEY WF_CALL_LABEL WF_CALL_PHASE WF_CALL_MODEL WF_CALL_EFFORT WF_CALL_PERMISSION WF_CALL_SCHEMA WF_ATTEMPT WF_SANDBOX_PERMISSION'.split(
    ' ',
  ),
);

/** Codes that the source uses and that decide no end: those of warnings and of `wf check`. */
const FURTHER_CODES = new Set(
  readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...read(`src/${file}`).matchAll(/'(WF_[A-Z_]+)'/g)].map((match) => match[1] as string))
    .filter((code) => !(code in ERROR_CODES) && !VARIABLES.has(code)),
);

describe('docs/errors.md', () => {
  const rows = [
    ...read('docs/errors.md').matchAll(/^\| <a id="(WF_\w+)"><\/a>`(WF_\w+)` \| (\d+) \| (.+) \| (.+) \|$/gm),
  ].map(([, anchor, code, exit, meaning, remedy]) => ({ anchor, code, exit: Number(exit), meaning, remedy }));

  test('has one row with an anchor for each code, and none without a code', () => {
    expect(rows.map((row) => row.anchor).sort()).toEqual(Object.keys(ERROR_CODES).sort());
    for (const row of rows) expect(row.code).toBe(row.anchor);
  });

  test('has a row for each code of a warning and of wf check, and none that the source does not use', () => {
    const further = [
      ...read('docs/errors.md').matchAll(/^\| <a id="(WF_\w+)"><\/a>`(WF_\w+)` \| (?!\d+ \|)(.+\.) \| (.+\.) \|$/gm),
    ];
    for (const [, anchor, code] of further) expect(code).toBe(anchor);
    expect(further.map(([, code]) => code).sort()).toEqual([...FURTHER_CODES].sort());
    expect(read('docs/errors.md').match(/<a id=/g)?.length).toBe(rows.length + further.length);
  });

  test('names the exit code of the table, a meaning and a remedy', () => {
    const told = Object.fromEntries(rows.map((row) => [row.code, row.exit]));
    expect(told).toEqual(ERROR_CODES);
    for (const row of rows) {
      expect(row.meaning, row.code).toMatch(/\S.{15,}\.$/);
      expect(row.remedy, row.code).toMatch(/\S.{5,}\.$/);
    }
  });
});

describe('the other pages', () => {
  test('docs/cli.md has a row for each exit code', () => {
    const table = read('docs/cli.md').split('## Exit codes')[1]?.split('\n## ')[0] ?? '';
    expect([...table.matchAll(/^\| (\d+) \|/gm)].map((match) => Number(match[1]))).toEqual(Object.values(EXIT));
  });

  test.each(PAGES)('%s points only at files, anchors and codes that exist', (page) => {
    const text = read(page);
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target === undefined || /^https:/.test(target)) continue;
      const [file, anchor] = target.split('#') as [string, string | undefined];
      const path = file === '' ? join(ROOT, page) : resolve(dirname(join(ROOT, page)), file);
      expect(existsSync(path), `${page} → ${target}`).toBe(true);
      const headings = path.endsWith('.md')
        ? [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map((match) => slug(match[1] ?? ''))
        : [];
      if (anchor !== undefined) expect(headings, `${page} → ${target}`).toContain(anchor);
    }
    for (const [code] of text.matchAll(/\bWF_[A-Z_]+\b/g)) {
      if (!VARIABLES.has(code))
        expect([...Object.keys(ERROR_CODES), ...FURTHER_CODES], `${page}: ${code}`).toContain(code);
    }
  });

  test('H15 H16 H17 the README says what to look at first, what is not tested, and what resuming is not', () => {
    const readme = read('README.md');
    expect(readme).toMatch(/### Look at the workspace first/);
    expect(readme).toMatch(/## Not tested\n\n- macOS[\s\S]*musl[\s\S]*Windows: refused/);
    expect(readme).toMatch(/separate mechanism from\s+the \*\*recovery of a chat session\*\*/);
  });
});

const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
