import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { retryRename } from '../../src/runs/record-file.js';
import { createRunFolder } from '../../src/runs/run-folder.js';
import { readRunRecord, readState, writeRunRecord, writeState } from '../../src/runs/run-records.js';
import { WfError } from '../../src/shared/errors.js';
import { newRunId } from '../../src/shared/ids.js';
import { plantRun, sampleRecord, sampleState, tempFolder } from './support/sample-records.js';

const caught = (work: () => unknown): WfError => {
  try {
    work();
  } catch (error) {
    if (WfError.is(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('createRunFolder', () => {
  it('J1 J2 O1 makes a whole folder, named by the id, with the script byte for byte', () => {
    const runsFolder = join(tempFolder(), '.claude', 'workflow-runs');
    const record = sampleRecord();
    const script = '\uFEFF// grün 🙂 \r\nreturn "\u2028"\n';
    const folder = createRunFolder({ runsFolder, record, script });
    expect(folder).toBe(join(runsFolder, record.runId));
    expect(readdirSync(folder).sort()).toEqual(['journal.jsonl', 'run.json', 'script.js']);
    expect(readFileSync(join(folder, 'script.js'))).toEqual(Buffer.from(script));
    expect(readFileSync(join(folder, 'journal.jsonl'), 'utf8')).toBe('');
    expect(readRunRecord(folder)).toEqual(record);
    expect(readdirSync(runsFolder).sort()).toEqual(['.gitignore', record.runId]);
  });

  it('B-042 lets only the owner read it, whatever the umask, and keeps it out of commits', () => {
    const project = tempFolder();
    execFileSync('git', ['init', '-q'], { cwd: project });
    const runsFolder = join(project, '.claude', 'workflow-runs');
    const umask = process.umask(0);
    let folder: string;
    try {
      folder = createRunFolder({ runsFolder, record: sampleRecord(), script: '' });
      writeState(folder, sampleState(folder));
    } finally {
      process.umask(umask);
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: project, encoding: 'utf8' })).toBe('');
  });

  it('puts no .gitignore into a folder that was there already', () => {
    const runsFolder = tempFolder();
    writeFileSync(join(runsFolder, 'mine.txt'), '');
    createRunFolder({ runsFolder, record: sampleRecord(), script: '' });
    expect(existsSync(join(runsFolder, '.gitignore'))).toBe(false);
  });

  it('refuses an id that is taken, by whatever, and leaves nothing behind', () => {
    const runsFolder = tempFolder();
    const record = sampleRecord();
    const folder = join(runsFolder, record.runId);
    const blockers = [
      () => plantRun(runsFolder, { record }),
      () => writeFileSync(folder, ''),
      () => symlinkSync('/nowhere', folder),
    ];
    for (const block of blockers) {
      block();
      const error = caught(() => createRunFolder({ runsFolder, record, script: '' }));
      expect(error.code).toBe('WF_RUN_ID');
      expect(error.message).toContain(record.runId);
      expect(readdirSync(runsFolder)).toEqual([record.runId]);
      rmSync(folder, { recursive: true });
    }
  });

  it('is not stopped by what a killed start with the same id left', () => {
    const runsFolder = tempFolder();
    const record = sampleRecord();
    mkdirSync(join(runsFolder, `.new-${record.runId}`));
    expect(existsSync(createRunFolder({ runsFolder, record, script: '' }))).toBe(true);
  });

  it('names --runs-dir where nothing can be written', () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    for (const runsFolder of [file, join(file, 'deeper')]) {
      const error = caught(() => createRunFolder({ runsFolder, record: sampleRecord(), script: '' }));
      expect(error.code).toBe('WF_RUNS_DIR');
      expect(error.message).toContain(runsFolder);
      expect(error.remedy).toContain('--runs-dir');
    }
  });
});

describe('run.json and state.json', () => {
  it('come back as they were written, unknown fields and all', () => {
    const folder = plantRun(tempFolder());
    const record = { ...readRunRecord(folder), copied: false, later: { field: 1 }, args: { __proto__: null, a: [1] } };
    writeRunRecord(folder, record);
    expect(readRunRecord(folder)).toEqual(JSON.parse(JSON.stringify(record)));
    expect(readState(folder)).toBeNull();
    const state = sampleState(record.runId, { result: { a: null }, later: true } as object);
    writeState(folder, state);
    expect(readState(folder)).toEqual(state);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  const runId = newRunId();
  const cases: [string, string | null, string, RegExp][] = [
    ['an empty file', '', 'WF_RUN_DAMAGED', /run\.json is empty/],
    ['half a file', '{"version":1,"engine":"wf-', 'WF_RUN_DAMAGED', /run\.json is not JSON/],
    ['NULs', '\0'.repeat(64), 'WF_RUN_DAMAGED', /not JSON/],
    ['a list', '[]', 'WF_RUN_DAMAGED', /not a JSON object/],
    [
      'a missing field',
      JSON.stringify({ ...sampleRecord({ runId }), lineage: undefined }),
      'WF_RUN_DAMAGED',
      /lineage/,
    ],
    ['another run', JSON.stringify(sampleRecord()), 'WF_RUN_DAMAGED', /is that of run/],
    ['no file', null, 'WF_RUN_DAMAGED', /run\.json is missing/],
    ['a newer version', JSON.stringify({ version: 2, engine: 'wf-engine' }), 'WF_VERSION_NEWER', /version 2.*up to 1/],
    ['another engine', JSON.stringify({ version: 9, engine: 'peri' }), 'WF_RUN_FOREIGN', /"peri"/],
  ];
  it.each(cases)('H12 B-029 refuses %s by name', (_, record, code, words) => {
    const folder = plantRun(tempFolder(), { runId, record });
    const error = caught(() => readRunRecord(folder));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(words);
    expect(error.message).toContain(folder);
    expect(error.remedy).toBeTruthy();
  });

  it('tells a folder of another engine without run.json from a damaged one, and no folder from both', () => {
    const foreign = plantRun(tempFolder(), { record: null, state: '{"runId":"x","nodes":[]}' });
    expect(caught(() => readRunRecord(foreign)).code).toBe('WF_RUN_FOREIGN');
    const ours = plantRun(tempFolder(), { runId, record: null, state: sampleState(runId) });
    expect(caught(() => readRunRecord(ours)).code).toBe('WF_RUN_DAMAGED');
    expect(caught(() => readRunRecord(join(tempFolder(), runId))).code).toBe('WF_RUN_UNKNOWN');
  });

  it('refuses a damaged and a newer state.json by name', () => {
    const runsFolder = tempFolder();
    expect(caught(() => readState(plantRun(runsFolder, { state: '{' }))).code).toBe('WF_RUN_DAMAGED');
    expect(caught(() => readState(plantRun(runsFolder, { state: '{"version":2}' }))).code).toBe('WF_VERSION_NEWER');
  });

  it('does not wait for a pipe and does not follow a link', () => {
    const folder = plantRun(tempFolder(), { record: null });
    execFileSync('mkfifo', [join(folder, 'run.json')]);
    expect(caught(() => readRunRecord(folder)).message).toContain('is not a file');
    rmSync(join(folder, 'run.json'));
    symlinkSync('/dev/zero', join(folder, 'run.json'));
    expect(caught(() => readRunRecord(folder)).message).toContain('is not a file');
  });

  it('J7 keeps the old file and leaves no temporary one when the new one cannot be written', () => {
    const folder = plantRun(tempFolder());
    const record = readRunRecord(folder);
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(() => writeRunRecord(folder, { ...record, args: cyclic })).toThrow();
    chmodSync(folder, 0o700);
    expect(readRunRecord(folder)).toEqual(record);
    expect(readdirSync(folder).sort()).toEqual(['journal.jsonl', 'run.json', 'script.js']);
  });
});

describe('B-043 a rename that is refused for a moment', () => {
  const refusal = (code: string, syscall = 'rename'): Error => Object.assign(new Error(code), { code, syscall });

  it.each(['EPERM', 'EBUSY', 'EACCES'])('is tried again with growing pauses: %s', (code) => {
    const waits: number[] = [];
    let tries = 0;
    retryRename(
      () => {
        if (++tries <= 2) throw refusal(code);
      },
      (ms) => waits.push(ms),
    );
    expect(tries).toBe(3);
    expect(waits).toHaveLength(2);
    expect(waits[1]).toBeGreaterThan(waits[0] as number);
  });

  it('ends after some tries, with the reason', () => {
    let waited = 0;
    let tries = 0;
    const write = (): void => {
      tries++;
      throw refusal('EBUSY');
    };
    const wait = (ms: number): void => {
      waited += ms;
    };
    expect(() => retryRename(write, wait)).toThrow('EBUSY');
    expect(tries).toBeLessThan(10);
    expect(waited).toBeLessThan(1_000);
  });

  it('is not confused with other failures', () => {
    for (const error of [refusal('EACCES', 'open'), refusal('ENOSPC'), new Error('x')]) {
      const wait = (): never => {
        throw new Error('must not wait');
      };
      expect(() =>
        retryRename(() => {
          throw error;
        }, wait),
      ).toThrow(error);
    }
  });
});
