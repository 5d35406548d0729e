/** Hand-made event lists for the reporters. */
import type { RunEvent } from '../../src/engine/events.js';
import { type Counts, emptyCounts, emptyUsage } from '../../src/shared/outcome.js';

export const RUN = '0f0e0d0c-0b0a-4908-8706-050403020100';
export const SOURCE = '11111111-2222-4333-8444-555555555555';
export const FOLDER = `/project/.claude/workflow-runs/${RUN}`;

type Body<T extends RunEvent> = T extends RunEvent ? Omit<T, 't'> : never;

/** Stamps the events one second apart. */
export const stamp = (...bodies: Body<RunEvent>[]): RunEvent[] =>
  bodies.map((body, i) => ({ t: new Date(Date.UTC(2026, 0, 2, 12, 0, i)).toISOString(), ...body }) as RunEvent);

export const started = (more: object = {}): Body<RunEvent> => ({
  type: 'run.started',
  runId: RUN,
  folder: FOLDER,
  workflow: 'survey',
  description: 'Facts of files',
  backend: 'command',
  madeUp: false,
  concurrency: 4,
  resumedFrom: null,
  kept: 0,
  phases: ['Facts'],
  ...more,
});

export const counts = (some: Partial<Counts>): Counts => ({ ...emptyCounts(), ...some });

export const finished = (more: object = {}): Body<RunEvent> => ({
  type: 'run.finished',
  runId: RUN,
  folder: FOLDER,
  status: 'completed',
  exitCode: 0,
  counts: counts({ calls: 1, ok: 1, executed: 1 }),
  usage: emptyUsage(),
  phases: [],
  failures: [],
  journalComplete: true,
  durationMs: 9_000,
  ...more,
});

export const queued = (n: number, label: string, phase: string | null = null): Body<RunEvent> => ({
  type: 'call.queued',
  n,
  label,
  phase,
});

export const begun = (n: number, label: string, phase: string | null = null, attempt = 1): Body<RunEvent> => ({
  type: 'call.started',
  n,
  label,
  phase,
  attempt,
});

export const ended = (n: number, label: string, phase: string | null = null, more: object = {}): Body<RunEvent> => ({
  type: 'call.finished',
  n,
  label,
  phase,
  status: 'ok',
  reused: false,
  from: null,
  attempts: 1,
  durationMs: 1_234,
  ...more,
});

const retried = (n: number, label: string): Body<RunEvent> => ({
  type: 'call.retry',
  n,
  label,
  kind: 'rate_limit',
  delayMs: 5_000,
  attempt: 1,
});

/**
 * The recipe of B-148: seven calls of the run's own script (three hits, two with retries of which one fails, one
 * plain, one never dispatched) and a nested workflow with two.
 */
export function mixedRun(): RunEvent[] {
  const hit = { reused: true, from: SOURCE, attempts: 0, durationMs: 0 };
  const failure = { code: 'WF_AGENT_TIMEOUT', message: 'No end within 60 s.' };
  const inChild = '▸ child';
  return stamp(
    started({ resumedFrom: SOURCE, kept: 3, phases: ['Facts', 'Votes'] }),
    { type: 'phase', title: 'Facts' },
    queued(1, 'src/a.ts', 'Facts'),
    queued(2, 'src/b.ts', 'Facts'),
    queued(3, 'src/c.ts', 'Facts'),
    ended(1, 'src/a.ts', 'Facts', hit),
    ended(2, 'src/b.ts', 'Facts', hit),
    ended(3, 'src/c.ts', 'Facts', hit),
    { type: 'phase', title: 'Votes' },
    queued(4, 'vote 1', 'Votes'),
    queued(5, 'vote 2', 'Votes'),
    queued(6, 'vote 3', 'Votes'),
    queued(7, 'vote 4', 'Votes'),
    begun(4, 'vote 1', 'Votes'),
    begun(5, 'vote 2', 'Votes'),
    retried(4, 'vote 1'),
    retried(5, 'vote 2'),
    begun(4, 'vote 1', 'Votes', 2),
    begun(5, 'vote 2', 'Votes', 2),
    begun(6, 'vote 3', 'Votes'),
    ended(4, 'vote 1', 'Votes', { attempts: 2, usage: { inputTokens: 1_200, outputTokens: 340 } }),
    ended(5, 'vote 2', 'Votes', { status: 'failed', attempts: 2, durationMs: 60_000, error: failure }),
    ended(6, 'vote 3', 'Votes'),
    queued(8, 'inner 1', inChild),
    begun(8, 'inner 1', inChild),
    ended(8, 'inner 1', inChild),
    queued(9, 'inner 2', inChild),
    begun(9, 'inner 2', inChild),
    ended(9, 'inner 2', inChild),
    { type: 'warning', code: 'WF_AGENT_OPTIONS', message: 'agent() does not know the option "colour".' },
    ended(7, 'vote 4', 'Votes', { status: 'no-result', attempts: 0, durationMs: 0 }),
    finished({
      status: 'cancelled',
      exitCode: 130,
      durationMs: 185_000,
      counts: counts({ calls: 9, ok: 7, failed: 1, noResult: 1, reused: 3, executed: 5 }),
      usage: {
        ...emptyUsage(),
        inputTokens: 1_200,
        outputTokens: 340,
        usd: 0.02,
        savedOutputTokens: 21_000,
        savedUsd: null,
      },
      phases: [
        { title: 'Facts', counts: counts({ calls: 3, ok: 3, reused: 3 }) },
        { title: 'Votes', counts: counts({ calls: 4, ok: 2, failed: 1, noResult: 1, executed: 3 }) },
        { title: inChild, counts: counts({ calls: 2, ok: 2, executed: 2 }) },
      ],
      failures: [{ n: 5, label: 'vote 2', phase: 'Votes', status: 'failed', recovered: false, ...failure }],
      resumeCommand: `wf run --resume-from ${RUN}`,
    }),
  );
}
