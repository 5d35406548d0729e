/** What a check of `wf doctor` gets to see and what it tells. A check looks and changes nothing; only a `fix` changes. */
import type { ObservedRun } from '../../runs/run-status.js';
import type { RunFolder } from '../../runs/runs-folder.js';
import type { Places } from '../prepare-run.js';

/** `note`: worth knowing, nothing to do. `warn`: somebody should look at it. `fault`: runs cannot start here. */
export type FindingStatus = 'ok' | 'note' | 'warn' | 'fault';

/** One thing that a check saw. */
export interface Finding {
  status: FindingStatus;
  /** What was observed, and where. */
  message: string;
  /** What a person can do about it. */
  remedy?: string;
  runId?: string;
  path?: string;
  /** Mends it and says in words what was done; throws where it cannot. It looks again first: time has passed. */
  fix?: () => string | Promise<string>;
}

export interface DoctorRun extends RunFolder {
  observed: ObservedRun;
}

export interface DoctorContext {
  places: Places;
  /** As it was asked for, for commands that are to find the runs again. */
  runsDir: string | undefined;
  /** Run folders of the project's own runs folder. */
  runs: readonly DoctorRun[];
  /** ms since the epoch. */
  now: number;
}

/** One section of `wf doctor`. */
export interface DoctorCheck {
  /** For programs: kebab-case, never changed. */
  name: string;
  /** For people. */
  title: string;
  look(context: DoctorContext): readonly Finding[] | Promise<readonly Finding[]>;
}
