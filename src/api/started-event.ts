/** The first event of a run: what it is, and what it starts with. */
import type { RunEvent } from '../engine/events.js';
import type { CarriedLines } from '../journal/carry.js';
import { isoTime } from '../shared/clock.js';
import type { Beginning } from './run-parts.js';

export function startedEvent(
  { record, folder, prepared, clock, backend }: Beginning,
  carried: CarriedLines | undefined,
): RunEvent {
  return {
    t: isoTime(clock.now()),
    type: 'run.started',
    runId: record.runId,
    folder,
    workflow: record.workflow,
    description: record.description,
    backend: record.options.backend,
    ...(backend.why === undefined ? {} : { backendWhy: backend.why }),
    madeUp: record.madeUp,
    concurrency: record.options.concurrency,
    resumedFrom: record.lineage.resumedFrom,
    kept: carried?.lines.filter((line) => line.type === 'result' && line.kind === 'ok').length ?? 0,
    phases: prepared.script.meta.phases.map((phase) => phase.title),
  };
}
