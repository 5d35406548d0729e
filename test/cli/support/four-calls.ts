/** A finished run of four calls whose journal a test replaces, edits or takes away; and verbs that must not stumble over it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { checksum, journalFile, journalLine } from '../../support/journal.js';
import { runWf } from '../../support/run-wf.js';
import { makeProject, type TestProject } from '../../support/temp-project.js';
import { run } from './runs.js';
import { makeShellAgent, type ShellAgent } from './shell-agent.js';

const SCRIPT = `export const meta = { name: 'four', description: 'Four calls in sequence' }
const all = []
for (const x of args) all.push(await agent('do ' + x, { label: x }))
return all
`;
export const ALL = ['L1', 'L2', 'L3', 'L4'];
/** Flags of a run whose second call asks for something else. */
export const OTHER_SECOND = ['--args', JSON.stringify(['L1', 'new', 'L3', 'L4'])];

export interface FourCalls {
  project: TestProject;
  agent: ShellAgent;
  /** Id of the run. */
  source: string;
  /** Its journal. */
  journal: string;
  /** What stood there, each line with its newline. */
  lines: string[];
  answers: string[];
  /** Puts a journal of that content in the place of whatever lies there. */
  plant(text: string): void;
  /** The `n`th line with other members, and a right checksum. */
  edited(n: number, change: Record<string, unknown>): string;
  /** The `n`th line with another text, and a right checksum. */
  rewritten(n: number, from: string | RegExp, to: string): string;
  /** Runs a verb to its end; whatever the end is, it is no crash. */
  tell(...words: string[]): Promise<{ code: number | null; text: string }>;
}

/** It lives until the test file ends. */
export async function runFourCalls(): Promise<FourCalls> {
  const project = makeProject({ files: { 'four.js': SCRIPT }, until: 'file' });
  const agent = makeShellAgent(project, { '*': { reply: '["$label", "$$"]' } });
  const first = await run(project, ['four.js', '--args', JSON.stringify(ALL), ...agent.flags]);
  expect(first.code).toBe(0);
  const journal = journalFile(project, first.id) as string;
  const lines = readFileSync(journal, 'utf8').split(/(?<=\n)/);
  expect(lines).toHaveLength(4);
  return {
    project,
    agent,
    source: first.id,
    journal,
    lines,
    answers: first.result as string[],
    plant(text) {
      rmSync(journal, { recursive: true, force: true });
      writeFileSync(journal, text);
    },
    edited: (n, change) => journalLine({ ...JSON.parse(lines[n - 1] as string), ...change }),
    rewritten(n, from, to) {
      const line = lines[n - 1] as string;
      const before = line.slice(0, line.lastIndexOf(',"sum":'));
      const after = before.replace(from, to);
      expect(after).not.toBe(before);
      return `${after},"sum":"${checksum(after)}"}\n`;
    },
    async tell(...words) {
      const { code, stdout, stderr } = await runWf(words, { project });
      expect(stderr, words.join(' ')).not.toMatch(/WF_INTERNAL|Error: | {4}at /);
      return { code, text: stdout + stderr };
    },
  };
}
