/** What the events of a run tell of its calls. */
import { join } from 'node:path';
import { EVENTS_FILE } from '../runs/runs-folder.js';
import { isoTime } from '../shared/clock.js';
import type { CallStatus, ErrorRecord, KeptWorktree } from '../shared/outcome.js';
import { readRegularFile } from '../shared/regular-file.js';
import type { CallDetail } from './call-view.js';

interface SeenEvent {
  t: string;
  type: string;
  code?: string;
  message?: string;
  delayMs?: number;
  kind?: string;
  n?: number;
  key?: string;
  label?: string;
  phase?: string | null;
  attempt?: number;
  error?: ErrorRecord;
  status?: CallStatus;
  state?: string;
  path?: string;
  branch?: string;
  base?: string;
  kept?: KeptWorktree;
}

/**
 * Events tell of calls that have no line: queued, started, refused. They are for display; a lost event loses a row here.
 *
 * @returns by number of a call whose end was told of: the highest number of a call that had been told of by then
 */
export function readCallEvents(
  folder: string,
  running: boolean,
  calls: Map<number, CallDetail>,
  notices: string[],
): ReadonlyMap<number, number> {
  const askedByEnd = new Map<number, number>();
  let lastAsked = 0;
  let text: string;
  try {
    text = readRegularFile(join(folder, EVENTS_FILE));
  } catch {
    return askedByEnd;
  }
  for (const line of text.split('\n')) {
    const event = parseEvent(line);
    // Whoever looks at a run that has recorded no end must hear of it too.
    if (event?.code === 'WF_AGENT_LEFT' && typeof event.message === 'string') notices.push(event.message);
    if (event?.n === undefined || !event.type.startsWith('call.')) continue;
    const call = calls.get(event.n) ?? newCall(event, running);
    calls.set(event.n, call);
    lastAsked = Math.max(lastAsked, event.n);
    if (running) noteSign(call, event);
    if (event.type === 'call.queued') call.key ??= event.key ?? null;
    else if (event.type === 'call.started') {
      call.status = running ? 'running' : 'no-result';
      call.startedAt ??= event.t;
      call.attempts = event.attempt ?? call.attempts;
    } else if (event.type === 'call.worktree') {
      noteWorktree(call, event, running);
    } else if (event.type === 'call.finished') {
      askedByEnd.set(event.n, lastAsked);
      // Only the journal says that a call has an answer.
      if (event.status === 'failed') call.status = 'failed';
      else call.status = 'no-result';
      if (event.error !== undefined) call.error = event.error;
    }
  }
  return askedByEnd;
}

/** Of a live run: when its open calls last gave a sign, and which of them wait for another try. */
function noteSign(call: CallDetail, { t, type, delayMs, kind }: SeenEvent): void {
  delete call.retry;
  if (type === 'call.finished' || type === 'call.queued') {
    delete call.lastSignAt;
    return;
  }
  call.lastSignAt = t;
  if (type === 'call.retry') call.retry = { at: isoTime(Date.parse(t) + (delayMs ?? 0)), kind: kind ?? 'unknown' };
}

/** Of a call without a line, by what was told of it: made, and then kept or removed. */
function noteWorktree(call: CallDetail, { state, path, branch, base, kept }: SeenEvent, running: boolean): void {
  if (path === undefined || branch === undefined || base === undefined) return;
  const others = (call.worktrees ?? []).filter((known) => known.path !== path);
  const doubt = running ? 'in use' : 'its call was cut off; what is in it was not looked at';
  const made = { path, branch, base, files: [], fileCount: 0, commits: 0, doubt };
  const now = state === 'removed' ? others : [...others, kept ?? made];
  if (now.length > 0) call.worktrees = now;
  else delete call.worktrees;
}

function newCall(event: SeenEvent, running: boolean): CallDetail {
  return {
    n: event.n as number,
    seq: null,
    nth: null,
    path: null,
    key: null,
    label: event.label ?? '',
    phase: event.phase ?? null,
    status: running ? 'queued' : 'no-result',
    reused: false,
    from: null,
    attempts: 0,
    startedAt: null,
    endedAt: null,
  };
}

function parseEvent(line: string): SeenEvent | undefined {
  try {
    return JSON.parse(line) as SeenEvent;
  } catch {
    return undefined;
  }
}
