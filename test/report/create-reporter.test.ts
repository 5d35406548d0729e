import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { createReporters } from '../../src/report/create-reporter.js';
import { combineReporters } from '../../src/report/guard-reporter.js';
import { ownerOfStderr, parseReporterSpec, planReporters } from '../../src/report/reporter-spec.js';
import { writeToStream } from '../../src/report/write-text.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { makeFakeClock } from './fake-clock.js';
import { finished, mixedRun, stamp, started } from './sample-events.js';

let folder: string;
beforeEach(() => {
  folder = makeTempFolder('report');
});

const collector = () => {
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  return { write, text: () => text, clock: makeFakeClock() };
};

const usage = (act: () => unknown): { code?: string; message?: string; remedy?: string } => {
  try {
    act();
  } catch (error) {
    return error as object;
  }
  return {};
};

describe('--reporter', () => {
  test('reads a name with or without a file', () => {
    expect(parseReporterSpec('plain')).toEqual({ name: 'plain' });
    expect(parseReporterSpec('junit=a=b.xml')).toEqual({ name: 'junit', file: 'a=b.xml' });
  });

  test('an unknown name is refused with the nearest one', () => {
    expect(usage(() => parseReporterSpec('jsnol'))).toMatchObject({
      code: 'WF_USAGE',
      message: 'There is no reporter "jsnol".',
      remedy: 'Did you mean jsonl? The reporters are plain, jsonl, json, github, junit.',
    });
    expect(usage(() => parseReporterSpec('toString')).remedy).toBe(
      'The reporters are plain, jsonl, json, github, junit.',
    );
    expect(usage(() => parseReporterSpec('json=')).message).toBe('The reporter json was given an empty file name.');
  });

  test('the plain account is kept beside reporters that leave stderr silent, and nothing is written beside JSON', () => {
    const plan = (...texts: string[]) => planReporters(texts.map(parseReporterSpec)).map((spec) => spec.name);
    expect(plan()).toEqual(['plain']);
    expect(plan('junit=x.xml')).toEqual(['plain', 'junit']);
    expect(plan('github')).toEqual(['plain', 'github']);
    expect(plan('jsonl')).toEqual(['jsonl']);
    expect(plan('json', 'plain=log.txt')).toEqual(['json', 'plain']);
    expect(ownerOfStderr([parseReporterSpec('jsonl')])?.name).toBe('jsonl');
    expect(ownerOfStderr([parseReporterSpec('jsonl=x')])).toBeUndefined();
    expect(usage(() => plan('github', 'jsonl')).message).toBe(
      'The reporters jsonl and github would both write to stderr.',
    );
    expect(usage(() => plan('json', 'jsonl')).code).toBe('WF_USAGE');
    expect(usage(() => plan('json=a', 'jsonl=a')).message).toBe('Two reporters would write to a.');
  });

  test('each reporter writes to its own place', async () => {
    const { write, text, clock } = collector();
    const at = (name: string): string => join(folder, 'new', name);
    const stepSummary = join(folder, 'step.md');
    writeFileSync(stepSummary, 'before\n');
    const specs = [
      'plain',
      `plain=${at('log.txt')}`,
      `jsonl=${at('e.jsonl')}`,
      `json=${at('r.json')}`,
      `junit=${at('j.xml')}`,
      `github=${at('gh.txt')}`,
    ];
    const reporter = await createReporters(specs, { write, clock, colors: true, resultPlace: 'stdout', stepSummary });
    for (const event of mixedRun()) reporter.event(event);
    await reporter.close?.();
    const colour = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');
    expect(text()).toMatch(colour);
    expect(readFileSync(at('log.txt'), 'utf8')).toBe(text().replaceAll(colour, ''));
    expect(readFileSync(at('e.jsonl'), 'utf8').trim().split('\n').length).toBe(mixedRun().length);
    expect(JSON.parse(readFileSync(at('r.json'), 'utf8')).exitCode).toBe(130);
    expect(readFileSync(at('j.xml'), 'utf8')).toMatch(/<\/testsuites>\n$/);
    expect(readFileSync(at('gh.txt'), 'utf8')).toMatch(/^::warning /);
    expect(readFileSync(stepSummary, 'utf8')).toMatch(/^before\n## wf: survey cancelled\n/);
  });

  test('a file that cannot be written is refused before anything starts', async () => {
    writeFileSync(join(folder, 'file'), '');
    const path = join(folder, 'file', 'x.json');
    await expect(createReporters([`json=${path}`], collector())).rejects.toMatchObject({ code: 'WF_USAGE' });
  });

  test('a closed output is told once and ends the printing, not the run', async () => {
    const told: string[] = [];
    let writes = 0;
    const write = (): void => {
      writes++;
      throw new Error('write EPIPE');
    };
    const onTrouble = (message: string): void => {
      told.push(message);
      throw new Error('stderr is gone as well');
    };
    const reporter = await createReporters(['plain', `jsonl=${join(folder, 'e')}`], {
      write,
      onTrouble,
      clock: makeFakeClock(),
    });
    for (const event of mixedRun()) reporter.event(event);
    await reporter.close?.();
    expect(writes).toBe(1);
    expect(told).toEqual(['stderr cannot be written any more (write EPIPE); the run goes on.']);
    expect(readFileSync(join(folder, 'e'), 'utf8').trim().split('\n').length).toBe(mixedRun().length);
  });

  test('a reporter that throws is left out and the others go on', async () => {
    const told: string[] = [];
    let seen = 0;
    const bad = {
      event: () => {
        throw new Error('bug');
      },
      close: () => Promise.reject(new Error('bug too')),
    };
    const reporter = combineReporters([bad, { event: () => seen++ }], (message) => told.push(message));
    for (const event of stamp(started(), finished())) reporter.event(event);
    await reporter.close?.();
    expect(seen).toBe(2);
    expect(told).toEqual(['A reporter stopped: bug']);
  });

  test('a stream whose reader has gone takes no more and throws nothing', async () => {
    const stream = new PassThrough();
    const write = writeToStream(stream);
    write('a');
    const gone = new Promise((resolve) => stream.once('close', resolve));
    stream.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await gone;
    write('b');
    expect(stream.writable).toBe(false);
  });
});
