import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRun, findRunById } from '../../src/runs/find-run.js';
import { newRunId } from '../../src/shared/ids.js';
import { plantRun, tempFolder } from './support/sample-records.js';

const idOf = (start: string): string => `${start}${'00000000-0000-4000-8000-000000000000'.slice(start.length)}`;

describe('findRun', () => {
  it('takes a whole id, a unique beginning, and capitals', () => {
    const runsFolder = tempFolder();
    const folder = plantRun(runsFolder, { runId: idOf('ab1') });
    plantRun(runsFolder, { runId: idOf('ac2') });
    for (const text of ['ab', 'AB1', idOf('ab1'), idOf('ab1').toUpperCase(), 'ab100000-0']) {
      expect(findRun(text, [runsFolder])).toMatchObject({ runId: idOf('ab1'), folder });
    }
  });

  it('names the candidates of a beginning that several runs have, ten at most', () => {
    const runsFolder = tempFolder();
    for (let i = 0; i < 12; i++) plantRun(runsFolder, { runId: idOf(`ab${i.toString(16)}`) });
    expect(() => findRun('ab', [runsFolder])).toThrow(
      expect.objectContaining({
        code: 'WF_RUN_ID',
        message: expect.stringMatching(new RegExp(`^12 runs begin with ab: ${idOf('ab0')}, .*, and 2 more\\.$`)),
      }),
    );
  });

  it('B-015 looks in the other folders too; the same run in two is one', () => {
    const here = tempFolder();
    const main = tempFolder();
    const runId = newRunId();
    const inMain = plantRun(main, { runId });
    expect(findRun(runId.slice(0, 8), [here, main]).folder).toBe(inMain);
    const inHere = plantRun(here, { runId });
    expect(findRun(runId.slice(0, 8), [here, main]).folder).toBe(inHere);
    expect(findRunById(runId, [here, main]).folder).toBe(inHere);
  });

  it('goes on past a folder that cannot be listed, and says so when nothing is found', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const runsFolder = tempFolder();
    const folder = plantRun(runsFolder, { runId: idOf('ab') });
    expect(findRun('ab', [file, runsFolder]).folder).toBe(folder);
    expect(() => findRun('cd', [file])).toThrow(expect.objectContaining({ message: expect.stringContaining(file) }));
  });

  it('says when there is none', () => {
    expect(() => findRun('ab', [tempFolder()])).toThrow(expect.objectContaining({ code: 'WF_RUN_UNKNOWN' }));
    const runsFolder = tempFolder();
    expect(() => findRun(newRunId(), [runsFolder])).toThrow(
      expect.objectContaining({ code: 'WF_RUN_UNKNOWN', remedy: expect.stringContaining(runsFolder) }),
    );
  });

  it.each(['', '-', 'x', '../a', 'ab/..', 'ab\0', 'ab\n', 'ab*', '.', '{ab}', 'urn:uuid:ab'])('refuses %j', (text) => {
    expect(() => findRun(text, [tempFolder()])).toThrow(expect.objectContaining({ code: 'WF_RUN_ID' }));
  });
});

describe('findRunById', () => {
  const id = idOf('ab');
  it.each([
    ...['x', '', '../a', `${id}/..`, `{${id}}`, `urn:uuid:${id}`, `${id}0`, `${id}\0`, `${id}\n`, id.slice(0, 35)],
    ...[`../${id}`, ` ${id}`, 'ab'],
  ])('R1 refuses %j before anything is touched', (text) => {
    const runsFolder = tempFolder();
    plantRun(runsFolder, { runId: id });
    expect(() => findRunById(text, [runsFolder])).toThrow(expect.objectContaining({ code: 'WF_RUN_ID' }));
    expect(readdirSync(runsFolder)).toEqual([id]);
  });
});
