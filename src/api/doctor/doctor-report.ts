/** What `wf doctor` is asked and what it answers, for programs. */
import type { RunWorkflowOptions } from '../run-options.js';
import type { FindingStatus } from './finding.js';

export interface DoctorOptions extends Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'> {
  /** Mend what can be mended. Journals and statuses are never rewritten, and nothing is started. */
  fix?: boolean | undefined;
  /** ms since the epoch; default now. */
  now?: number | undefined;
  /** Told of each step before it begins: what it waits for may take long, and the report comes at the end. */
  onStep?: ((step: DoctorStep) => void) | undefined;
}

/** What `runDoctor` is about to do. */
export interface DoctorStep {
  /** Name of the check, stable. */
  check: string;
  /** The same for people. */
  title: string;
  /** What is about to be mended there, if it has a place; `null` where the check looks. */
  mending: string | null;
}

/** One thing that was seen. */
export interface DoctorFinding {
  /** Name of the check, stable. */
  check: string;
  /** The same for people. */
  title: string;
  status: FindingStatus;
  message: string;
  remedy: string | null;
  runId: string | null;
  path: string | null;
  /** `fix` can mend it. */
  fixable: boolean;
  /** What was done about it; `null` when nothing was. */
  fixed: string | null;
  /** Why it could not be mended. */
  fixError?: string;
}

export interface DoctorReport {
  /** The worst of what is left: mended findings do not count. */
  status: FindingStatus;
  runsFolder: string;
  findings: DoctorFinding[];
}
