/** Calls that a run had started, by its events. They are for display: they serve for a reason and a notice, never for matching. */
import { join } from 'node:path';
import { EVENTS_FILE } from '../runs/runs-folder.js';
import { readRegularFile } from '../shared/regular-file.js';

export interface StartedCall {
  n: number;
  label: string;
  /** Absent where the event that names it was lost. */
  key: string | undefined;
  /** An outcome was told: an answer, or a failure. */
  settled: boolean;
  /** Worktrees that were made for it and not told to be gone. */
  worktrees: Place[];
}

/** A worktree by the names that events give it. */
export interface Place {
  path: string;
  branch: string;
  base: string;
}

const TYPES = ['"call.queued"', '"call.started"', '"call.finished"', '"call.worktree"'];

/** In call order; none where there is no account of events. */
export function readStartedCalls(folder: string): StartedCall[] {
  const keys = new Map<number, string>();
  const started = new Map<number, StartedCall>();
  for (const line of readLines(join(folder, EVENTS_FILE))) {
    if (!TYPES.some((type) => line.includes(type))) continue;
    const event = parseEvent(line);
    if (event === undefined) continue;
    if (event.type === 'call.queued' && typeof event.key === 'string') keys.set(event.n, event.key);
    else if (event.type === 'call.started')
      started.set(event.n, {
        n: event.n,
        label: event.label ?? '',
        key: keys.get(event.n),
        settled: false,
        worktrees: started.get(event.n)?.worktrees ?? [],
      });
    else if (event.type === 'call.worktree') noteWorktree(started.get(event.n), event);
    else if (event.type === 'call.finished' && event.status !== 'no-result') {
      const call = started.get(event.n);
      if (call !== undefined) call.settled = true;
    }
  }
  return [...started.values()].sort((a, b) => a.n - b.n);
}

function noteWorktree(call: StartedCall | undefined, event: SeenEvent): void {
  const { path, branch, base } = event;
  if (call === undefined || path === undefined || branch === undefined || base === undefined) return;
  call.worktrees = call.worktrees.filter((place) => place.path !== path);
  if (event.state !== 'removed') call.worktrees.push({ path, branch, base });
}

function readLines(file: string): string[] {
  try {
    return readRegularFile(file).split('\n');
  } catch {
    return [];
  }
}

interface SeenEvent extends Partial<Place> {
  type: string;
  n: number;
  label?: string;
  key?: string;
  status?: string;
  state?: string;
}

function parseEvent(line: string): SeenEvent | undefined {
  try {
    return JSON.parse(line);
  } catch {
    // A torn line.
    return undefined;
  }
}
