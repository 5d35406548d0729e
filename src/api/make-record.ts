import { describeOwner } from '../runs/owner.js';
import type { RunRecord } from '../runs/records.js';
import { isoTime } from '../shared/clock.js';
import { emptyCounts } from '../shared/outcome.js';
import { VERSION } from '../shared/version.js';
import type { PreparedRun } from './prepare-run.js';
import { insideRoot } from './start-folder.js';
import type { RunBackend } from './run-backend.js';

/** `run.json` as it is born: everything that decides what the run does, and who holds it. */
export function makeRecord(
  prepared: PreparedRun,
  run: {
    runId: string;
    root: string;
    claim: number;
    startedAt: number;
    backend: RunBackend;
    startedBy: RunRecord['startedBy'];
  },
): RunRecord {
  const { script, options, places, source } = prepared;
  return {
    version: 1,
    engine: 'wf-engine',
    runId: run.runId,
    workflow: script.meta.name,
    description: script.meta.description,
    script: {
      sha256: script.sha256,
      bytes: Buffer.byteLength(script.source),
      path: insideRoot(places.root, prepared.scriptPath),
      language: prepared.language,
    },
    ...(prepared.argsJson === undefined ? {} : { args: JSON.parse(prepared.argsJson) }),
    startFolder: insideRoot(places.root, prepared.startFolder) || '.',
    options: { ...options, backend: run.backend.name },
    settingSources: prepared.sources,
    versions: { wf: VERSION, node: process.version },
    startedAt: isoTime(run.startedAt),
    endedAt: null,
    status: 'running',
    owner: describeOwner(run.startedAt),
    lineage: { resumedFrom: source?.record.runId ?? null, root: run.root, claim: run.claim },
    copied: source === undefined,
    progress: { counts: emptyCounts(), phase: null, journalBytes: 0 },
    startedBy: run.startedBy,
    madeUp: run.backend.madeUp,
  };
}
