import { nameCall } from './describe-event.js';
import { formatDuration, plural } from './format.js';
import type { CallAccount } from './run-account.js';

const NAMES = 5;

/** Times are milliseconds of one clock that only grows. */
export interface Liveness {
  startedAt: number;
  lastEventAt: number;
  /** By number of the call: when it was last heard of. */
  activity: ReadonlyMap<number, number>;
}

/**
 * One line that shows a run at work or silent: what runs, and how long since each call was last heard of, the longest
 * silence first. It says only what was seen.
 */
export function describeLiveness(calls: Iterable<CallAccount>, seen: Liveness, now: number): string {
  const all = [...calls];
  const running = all.filter((call) => call.status === 'running');
  const queued = all.filter((call) => call.status === 'queued').length;
  const silence = (call: CallAccount): number => now - (seen.activity.get(call.n) ?? seen.startedAt);
  const named = running
    .sort((a, b) => silence(b) - silence(a) || a.n - b.n)
    .slice(0, NAMES)
    .map((call) => `${nameCall(call)} (last activity ${seconds(silence(call))} ago)`);
  if (running.length > NAMES) named.push(`${running.length - NAMES} more`);
  const ended = all.length - running.length - queued;
  const head = `run still running after ${formatDuration(now - seen.startedAt)}: ${ended} of ${plural(all.length, 'call')} so far ended`;
  const waiting = queued > 0 ? `, ${queued} queued` : '';
  if (running.length === 0) return `${head}${waiting}, none running, last event ${seconds(now - seen.lastEventAt)} ago`;
  return `${head}${waiting}, ${running.length} running: ${named.join(', ')}`;
}

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`;
