/** What the process `wf` itself asked the system to do with files, in order, from strace. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from '../../support/temp-project.js';

const CALLS = 'openat,write,pwrite64,writev,rename,renameat,renameat2,truncate,ftruncate,unlink,unlinkat,link,linkat';

/** For `under` of `runWf`: one file a thread, so that no call is split by another. */
export const traced = (project: TestProject, calls = CALLS): string[] => [
  'strace',
  '-ff',
  '-ttt',
  '-s',
  '1000000',
  '-e',
  `trace=${calls}`,
  '-o',
  join(project.control, 'trace'),
];

export interface TracedCall {
  at: number;
  name: string;
  /** What follows the opening bracket. */
  rest: string;
}

export interface Trace {
  opens(path: string): { flags: string }[];
  /** Writes by the main thread to a file that was opened by path. */
  writes(path: string): { at: number; text: string }[];
  /** Writes by the main thread to a descriptor. */
  writesTo(fd: number): { at: number; text: string }[];
  /** Writes by the main thread, to whatever, that hold the text. */
  writesWith(text: string): { at: number; text: string }[];
  /** Calls of any thread or child that rename, cut, link or remove the path. */
  changes(path: string): string[];
}

/** The lines of each thread. */
const readLines = (project: TestProject): string[][] =>
  readdirSync(project.control)
    .filter((name) => /^trace\.\d+$/.test(name))
    .map((name) => readFileSync(join(project.control, name), 'utf8').split('\n'));

/** The calls of each thread, in order. */
export const readThreads = (project: TestProject): TracedCall[][] =>
  readLines(project).map((lines) => lines.flatMap(readCall));

export function readTrace(project: TestProject): Trace {
  const threads = readLines(project);
  // The main thread is the one that makes the run folder's records.
  const main = threads.filter((lines) => lines.some((line) => line.includes('journal.jsonl", O_RDWR')));
  if (main.length !== 1) throw new Error(`${main.length} threads opened a journal for writing`);
  const calls = (main[0] as string[]).flatMap(readCall);
  const all = threads.flat();

  const writesTo = (wanted: (fd: number) => boolean): { at: number; text: string }[] =>
    calls.flatMap(({ at, name, rest }) => {
      const found = /^(\d+), (".*"), \d+\) = \d+$/s.exec(rest);
      return name === 'write' && found && wanted(Number(found[1])) ? [{ at, text: unquote(found[2] as string) }] : [];
    });
  return {
    opens: (path) =>
      all.flatMap((line) => {
        const found = /openat\([^"]*"([^"]*)", ([A-Z_|]+)[^)]*\) = \d+$/.exec(line);
        return found?.[1] === path ? [{ flags: found[2] as string }] : [];
      }),
    writes(path) {
      const open = calls.find(({ name, rest }) => name === 'openat' && rest.includes(`"${path}", O_RDWR`));
      const opened = Number(/= (\d+)$/.exec(open?.rest ?? '')?.[1]);
      // The number may have been that of another file before.
      return writesTo((fd) => fd === opened).filter(({ at }) => at > (open?.at ?? 0));
    },
    writesTo: (fd) => writesTo((one) => one === fd),
    writesWith: (wanted) => writesTo(() => true).filter(({ text }) => text.includes(wanted)),
    changes: (path) =>
      all.flatMap((line) => {
        const found = /^[\d.]+ ((?:rename|renameat|renameat2|truncate|unlink|unlinkat|link|linkat)\(.*)/.exec(line);
        return found?.[1]?.includes(`"${path}"`) ? [found[1]] : [];
      }),
  };
}

function readCall(line: string): TracedCall[] {
  const found = /^([\d.]+) (\w+)\((.*)$/s.exec(line);
  return found ? [{ at: Number(found[1]), name: found[2] as string, rest: found[3] as string }] : [];
}

/** A string as strace prints it, with octal escapes for what is not ASCII. */
function unquote(text: string): string {
  const bytes: number[] = [];
  const named: Record<string, string> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' };
  for (const part of text.slice(1, -1).matchAll(/\\([0-7]{1,3}|.)|([^\\]+)/gs)) {
    const [, escaped, plain] = part;
    if (plain !== undefined) bytes.push(...Buffer.from(plain));
    else if (/^[0-7]/.test(escaped as string)) bytes.push(Number.parseInt(escaped as string, 8));
    else bytes.push(...Buffer.from(named[escaped as string] ?? (escaped as string)));
  }
  return Buffer.from(bytes).toString('utf8');
}
