/** What must not stand in the repository, and whether its pages' links lead anywhere. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linesWith, listFiles, ROOT, readText } from './repository.js';

const isText = (file: string): boolean =>
  !/\.(png|jpg|gif|ico|gz|zip|wasm|node)$/.test(file) && file !== 'package-lock.json';
const texts = listFiles().filter(isText);
const whereFound = (pattern: RegExp): string[] =>
  texts.flatMap((file) => linesWith(readText(file), pattern).map((line) => `${file}:${line}`));

describe('no file of the repository', () => {
  it('names a folder of the machine it was written on', () => {
    // In pieces, so that this file is not found by its own search.
    const folders = [
      '/wo' + 'rk/',
      '/ro' + 'ot/',
      '/Us' + 'ers/\\w',
      '/ho' + 'me/(?!user\\b|me\\b|you\\b|runner\\b)\\w',
    ];
    expect(whereFound(new RegExp(`(?<![\\w.*-])(${folders.join('|')})`))).toEqual([]);
  });

  it('holds a secret', () => {
    const keys = [
      'sk-' + 'ant-[\\w-]{20}',
      'sk-' + '(proj-)?[A-Za-z0-9]{32}',
      'gh' + '[pousr]_\\w{30}',
      'AK' + 'IA[0-9A-Z]{16}',
      'xox' + '[bp]-\\w{10}',
    ];
    expect(whereFound(new RegExp(`\\b(${keys.join('|')})`))).toEqual([]);
    expect(whereFound(new RegExp('BEGIN ' + '[A-Z ]*PRIVATE ' + 'KEY'))).toEqual([]);
  });

  it('holds marks of an unfinished merge', () => {
    expect(whereFound(/^(<{7}|>{7}) /)).toEqual([]);
  });
});

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const line of withoutCodeBlocks(page).split('\n')) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1];
    if (heading !== undefined) {
      const anchor = anchorOf(heading);
      let unique = anchor;
      for (let i = 1; anchors.has(unique); i++) unique = `${anchor}-${i}`;
      anchors.add(unique);
    }
    for (const match of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(match[1] as string);
  }
  return anchors;
}

const withoutCodeBlocks = (page: string): string => page.replace(/^(```|~~~)[\s\S]*?^\1/gm, '');

const linksOf = (page: string): string[] =>
  [
    ...withoutCodeBlocks(page)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\[[^\]]+\]:\s*(\S+)/gm),
  ].map((match) => (match[1] ?? match[2]) as string);

describe('links in the pages', () => {
  const pages = texts.filter((file) => /^(docs\/.*|\.claude\/agents\/.*|[^/]+)\.md$/.test(file));

  it('knows links and anchors', () => {
    const page =
      '# A `b` & c!\n## A `b` & c!\n[x](a.md#y "title") `[no](code)` ![i](<i.png>)\n```\n[no](block)\n```\n[r]: r.md\n';
    expect(linksOf(page)).toEqual(['a.md#y', 'i.png', 'r.md']);
    expect([...anchorsOf(page)]).toEqual(['a-b--c', 'a-b--c-1']);
  });

  it('lead to a file of the repository and to a heading in it', () => {
    const broken = pages.flatMap((page) =>
      linksOf(readText(page))
        .filter((link) => !/^[a-z][a-z0-9+.-]*:/i.test(link))
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = decodeURIComponent(link).split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (target.startsWith('..') || !existsSync(join(ROOT, target))) return false;
  if (anchor === undefined || !target.endsWith('.md') || !statSync(join(ROOT, target)).isFile()) return true;
  return anchorsOf(readText(target)).has(anchor);
}
