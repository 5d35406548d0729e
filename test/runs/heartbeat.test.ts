import { mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HEARTBEAT_MS, startHeartbeat } from '../../src/runs/heartbeat.js';
import { describeOwner } from '../../src/runs/owner.js';
import { readRunRecord } from '../../src/runs/run-records.js';
import { emptyCounts } from '../../src/shared/outcome.js';
import { plantRun, sampleRecord, tempFolder } from './support/sample-records.js';

const START = Date.parse('2026-05-05T05:05:05.000Z');

beforeEach(() => void vi.useFakeTimers({ now: START, toFake: ['setInterval', 'clearInterval', 'Date'] }));
afterEach(() => void vi.useRealTimers());

function start() {
  const record = sampleRecord({ owner: describeOwner(START - 60_000) });
  const folder = plantRun(tempFolder(), { record });
  const seen = { calls: 0, latest: true, lost: 0, warnings: [] as string[] };
  const heartbeat = startHeartbeat({
    folder,
    record,
    progress: () => ({ counts: { ...emptyCounts(), calls: ++seen.calls }, phase: 'Review', journalBytes: 7 }),
    claim: { isLatest: () => seen.latest },
    onLost: () => void seen.lost++,
    onWarning: (text) => void seen.warnings.push(text),
  });
  return { record, folder, heartbeat, seen };
}

describe('startHeartbeat', () => {
  it('every 5 s writes the time and how far the run is, and nothing else changes', () => {
    const { record, folder, seen } = start();
    expect(readRunRecord(folder)).toEqual(record);
    for (let beats = 1; beats <= 3; beats++) {
      vi.advanceTimersByTime(HEARTBEAT_MS);
      expect(readRunRecord(folder)).toEqual({
        ...record,
        owner: { ...record.owner, heartbeat: new Date(START + beats * 5_000).toISOString() },
        progress: { counts: { ...emptyCounts(), calls: beats }, phase: 'Review', journalBytes: 7 },
      });
    }
    expect(seen).toMatchObject({ lost: 0, warnings: [] });
    expect(readdirSync(folder).sort()).toEqual(['journal.jsonl', 'run.json', 'script.js']);
  });

  it('freshens the mtime of the folder', () => {
    const { folder, heartbeat } = start();
    utimesSync(folder, 1, 1);
    heartbeat.beat();
    expect(statSync(folder).mtimeMs).toBeGreaterThan(1_000);
  });

  it('writes a change at once, and keeps it', () => {
    const { folder, heartbeat } = start();
    heartbeat.update({ copied: false, status: 'running' });
    expect(readRunRecord(folder).copied).toBe(false);
    vi.advanceTimersByTime(HEARTBEAT_MS);
    expect(readRunRecord(folder).copied).toBe(false);
    heartbeat.stop();
    heartbeat.update({ status: 'completed', endedAt: '2026-05-05T05:06:00.000Z', owner: null });
    expect(readRunRecord(folder)).toMatchObject({ status: 'completed', owner: null });
    expect(heartbeat.record.owner).toBeNull();
    const before = statSync(join(folder, 'run.json')).ino;
    vi.advanceTimersByTime(10 * HEARTBEAT_MS);
    expect(statSync(join(folder, 'run.json')).ino).toBe(before);
  });

  it('B-052 after a takeover says so once and writes nothing more', () => {
    const { folder, heartbeat, seen } = start();
    vi.advanceTimersByTime(HEARTBEAT_MS);
    const before = readRunRecord(folder);
    seen.latest = false;
    vi.advanceTimersByTime(5 * HEARTBEAT_MS);
    heartbeat.beat();
    expect(() => heartbeat.update({ status: 'completed' })).toThrow(expect.objectContaining({ code: 'WF_OWNER_LOST' }));
    seen.latest = true;
    heartbeat.beat();
    expect(readRunRecord(folder)).toEqual(before);
    expect(seen.lost).toBe(1);
  });

  it('warns once while it cannot write, and goes on when it can', () => {
    const { folder, heartbeat, seen } = start();
    renameSync(folder, `${folder}-away`);
    vi.advanceTimersByTime(3 * HEARTBEAT_MS);
    expect(seen.warnings).toEqual([expect.stringContaining(folder)]);
    expect(() => heartbeat.update({ copied: false })).toThrow('ENOENT');
    renameSync(`${folder}-away`, folder);
    vi.advanceTimersByTime(HEARTBEAT_MS);
    expect(readRunRecord(folder).copied).toBe(false);
    rmSync(join(folder, 'run.json'));
    mkdirSync(join(folder, 'run.json'));
    vi.advanceTimersByTime(HEARTBEAT_MS);
    expect(seen.warnings).toHaveLength(1);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});
