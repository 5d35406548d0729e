/** Runs that say they go on: whether somebody holds them, and whether anything happens in them. Nothing is restarted. */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { EVENTS_FILE } from '../../runs/runs-folder.js';
import { openRegularFile } from '../../shared/regular-file.js';
import { resumeCommandOf } from '../../shared/resume-command.js';
import type { DoctorCheck, DoctorRun, Finding } from './finding.js';

/** A live run without any event for longer than this, ms, may hang. */
const QUIET_MS = 30 * 60_000;
const TAIL_BYTES = 256 << 10;

export const checkOwners: DoctorCheck = {
  name: 'owners',
  title: 'Runs in progress',
  look({ runs, runsDir, now }) {
    const goneOnFrom = new Map(runs.map((run) => [run.observed.summary.resumedFrom, run.runId]));
    const findings = runs.flatMap((run) => lookAtRun(run, now, runsDir, goneOnFrom.get(run.runId)) ?? []);
    return findings.length > 0
      ? findings
      : [{ status: 'ok', message: 'No run is in progress or without its process.' }];
  },
};

function lookAtRun(
  run: DoctorRun,
  now: number,
  runsDir: string | undefined,
  next: string | undefined,
): Finding | undefined {
  const { runId, folder } = run;
  const { summary, record, ownerState } = run.observed;
  if (record?.status !== 'running') return undefined;
  const about = { runId, path: folder };
  if (summary.status === 'running') {
    const quietMs = now - lastEventAt(folder, Date.parse(record.startedAt));
    const who = `process ${summary.owner?.pid} on ${summary.owner?.host}`;
    if (quietMs <= QUIET_MS)
      return { status: 'ok', message: `Run ${runId} (${summary.workflow}) is held by ${who}.`, ...about };
    return {
      status: 'warn',
      message: `Run ${runId} (${summary.workflow}) is held by ${who}, and no event was recorded for ${Math.floor(quietMs / 60_000)} min.`,
      remedy: `An agent may wait for something: wf show ${runId} names the calls that are running. A limit for the next time: --idle-timeout.`,
      ...about,
    };
  }
  if (summary.status !== 'interrupted') return undefined;
  const why = ownerState?.reason ?? 'no owner is recorded';
  return {
    status: 'note',
    message: `Run ${runId} (${summary.workflow}) has no recorded end: ${why}.${next === undefined ? '' : ` Run ${next} went on from it.`}`,
    ...(next === undefined ? { remedy: `To go on: ${resumeCommandOf(runId, runsDir)}` } : {}),
    ...about,
  };
}

/** ms since the epoch, of the last event that has a time; the start of the run where there is none. */
function lastEventAt(folder: string, startedAt: number): number {
  const times = [...readTail(join(folder, EVENTS_FILE)).matchAll(/^\{"t":"([^"]+)"/gm)];
  const last = Date.parse(times.at(-1)?.[1] ?? '');
  return Number.isNaN(last) ? startedAt : Math.max(last, startedAt);
}

function readTail(file: string): string {
  try {
    const fd = openRegularFile(file);
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, size - bytes.length));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}
