/** A journal that is damaged in one way or another: the good lines still hit, the rest runs, and a warning says so. */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { journalFile, journalLine } from '../support/journal.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { linesOf, run, snapshot } from './support/runs.js';
import { makeShellAgent, type ShellAgent } from './support/shell-agent.js';

const SCRIPT = `export const meta = { name: 'six', description: 'Six calls in sequence' }
const all = []
for (const x of ['L1', 'L2', 'L3', 'L4', 'L5', 'L6']) all.push(await agent('do ' + x, { label: x }))
return all
`;

let project: TestProject;
let agent: ShellAgent;
let source: string;
let journal: string;
/** The lines of the source run, each with its newline. */
let lines: string[];
let answers: string[];

beforeAll(async () => {
  project = makeProject({ files: { 'six.js': SCRIPT }, until: 'file' });
  agent = makeShellAgent(project, { '*': { reply: '$label — “$$”' } });
  const first = await run(project, ['six.js', ...agent.flags]);
  expect(first.code).toBe(0);
  source = first.id;
  answers = first.result as string[];
  journal = journalFile(project, source) as string;
  lines = readFileSync(journal, 'utf8').split(/(?<=\n)/);
  expect(lines).toHaveLength(6);
});

const edited = (line: string, change: Record<string, unknown>): string =>
  journalLine({ ...JSON.parse(line), ...change });
const replaced = (n: number, line: string): string => lines.with(n - 1, line).join('');
const line = (n: number): string => lines[n - 1] as string;

interface Damage {
  bytes: () => string | Buffer;
  /** Calls that must run; none by default. */
  live?: string[];
  /** Lines that the warning counts; none by default, and then there is no warning. */
  bad?: number;
  fault?: string;
}

const DAMAGES: Record<string, Damage> = {
  'a garbage line more': { bytes: () => lines.toSpliced(3, 0, 'garbage in between\n').join(''), bad: 1 },
  'garbage instead of a line': { bytes: () => replaced(3, 'garbage\n'), live: ['L3'], bad: 1 },
  'zero bytes between two lines': {
    bytes: () => lines.toSpliced(2, 0, '\0'.repeat(512)).join(''),
    live: ['L3'],
    bad: 1,
  },
  'zero bytes at the end, as a crash of the machine may leave': {
    bytes: () => lines.join('') + '\0'.repeat(4096),
    bad: 1,
  },
  'bytes that are no UTF-8': {
    bytes: () => {
      const bytes = Buffer.from(lines.join(''));
      bytes[bytes.indexOf('“')] = 0xff;
      return bytes;
    },
    live: ['L1'],
    bad: 1,
    fault: 'wrong checksum',
  },
  'line ends of Windows': { bytes: () => lines.join('').replaceAll('\n', '\r\n') },
  'a byte order mark': { bytes: () => `\ufeff${lines.join('')}` },
  'nothing in it': { bytes: () => '', live: ['L1', 'L2', 'L3', 'L4', 'L5', 'L6'] },
  'a line of 10 MiB': { bytes: () => lines.toSpliced(1, 0, `${'x'.repeat(10 << 20)}\n`).join(''), bad: 1 },
  'a line twice': { bytes: () => lines.toSpliced(4, 0, line(2)).join('') },
  'all lines twice': { bytes: () => [...lines, ...lines].join('') },
  'a value of a wrong type': {
    bytes: () => replaced(3, edited(line(3), { nth: '0' })),
    live: ['L3'],
    bad: 1,
    fault: 'wrong shape',
  },
  'an answer that is missing': {
    bytes: () => replaced(3, journalLine({ ...JSON.parse(line(3)), output: undefined, size: undefined })),
    live: ['L3'],
    bad: 1,
    fault: 'wrong shape',
  },
  'a size that is not that of the answer': { bytes: () => replaced(3, edited(line(3), { size: 3 })) },
  'a kind of line that nobody knows': {
    bytes: () => [...lines, edited(line(1), { type: 'intent' })].join(''),
    bad: 1,
    fault: 'unknown kind',
  },
  'a line of an older version': {
    bytes: () => replaced(2, edited(line(2), { v: 0 })),
    live: ['L2'],
    bad: 1,
    fault: 'line 2: unknown version',
  },
  'deep nesting, with and without a right sum': {
    bytes: () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      return [`${deep}\n`, `{"v":1,"a":${deep}}\n`, ...lines].join('');
    },
    bad: 2,
  },
  'members named __proto__ and hasOwnProperty': {
    bytes: () => {
      const members = JSON.parse('{"__proto__":{"kind":"failed"},"hasOwnProperty":1}') as object;
      return replaced(
        3,
        journalLine(Object.fromEntries([...Object.entries(JSON.parse(line(3))), ...Object.entries(members)])),
      );
    },
  },
  'two lines in each other’s place': { bytes: () => lines.with(1, line(5)).with(4, line(2)).join('') },
  'a flipped bit': {
    bytes: () => {
      const bytes = Buffer.from(line(4));
      bytes[120] = (bytes[120] as number) ^ 4;
      return Buffer.concat([Buffer.from(lines.slice(0, 3).join('')), bytes, Buffer.from(lines.slice(4).join(''))]);
    },
    live: ['L4'],
    bad: 1,
    fault: 'line 4: wrong checksum',
  },
  'its end cut off at a line’s end': { bytes: () => lines.slice(0, 4).join(''), live: ['L5', 'L6'] },
  'two lines joined to one': { bytes: () => lines.join('').replace(/\n/, ''), live: ['L1', 'L2'], bad: 1 },
};

it.each(Object.entries(DAMAGES))('R3 %s', async (_, { bytes, live = [], bad = 0, fault }) => {
  writeFileSync(journal, bytes());
  const before = snapshot(project.runDir(source));
  const resumed = await run(project, ['--resume-from', source]);
  expect(resumed.code).toBe(0);
  expect(agent.started(resumed.id)).toEqual(live);
  expect(resumed.state.counts).toMatchObject({ reused: 6 - live.length, executed: live.length });
  const kept = (all: string[]): string[] => all.filter((answer) => !live.some((label) => answer.startsWith(label)));
  expect(kept(resumed.result as string[])).toEqual(kept(answers));

  const warnings = resumed.stderr.split('\n').filter((text) => text.includes('WF_JOURNAL_DAMAGED'));
  expect(warnings).toHaveLength(bad > 0 ? 1 : 0);
  if (bad > 0) {
    expect(warnings[0]).toContain(`${bad} unreadable line`);
    expect(warnings[0]).toContain(`${6 - live.length} results can be reused`);
    if (fault !== undefined) expect(warnings[0]).toContain(fault);
  }
  expect(resumed.stderr.split('\n')[0]).toContain(`with ${6 - live.length} recorded results`);
  // The new journal is sound, and the old one is left as it is.
  expect(linesOf(project, resumed.id)).toHaveLength(6 - live.length + 6);
  expect(snapshot(project.runDir(source))).toEqual(before);
});

it('H12 R3 a line of a newer version is no damage: the resume is refused by name and nothing is started', async () => {
  writeFileSync(journal, [...lines, journalLine({ v: 2, type: 'result' })].join(''));
  const runs = project.runIds();
  const starts = agent.started().length;
  const refused = await runWf(['run', '--resume-from', source], { project });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('WF_VERSION_NEWER');
  expect(agent.started()).toHaveLength(starts);
  expect(project.runIds()).toEqual(runs);
});
