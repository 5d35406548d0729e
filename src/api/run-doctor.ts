import type { FindingStatus } from './doctor/finding.js';
import type { RunWorkflowOptions } from './run-options.js';

export interface DoctorOptions extends Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'> {
  /** Mend what can be mended. Journals and statuses are never rewritten, and nothing is started. */
  fix?: boolean | undefined;
  /** ms since the epoch; default now. */
  now?: number | undefined;
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

/**
 * Looks at what runs need and at what they left behind. Without `fix` it only reads and takes no lock.
 *
 * @example
 * const { status, findings } = await runDoctor();
 * for (const finding of findings) if (finding.status === 'fault') report(finding.message, finding.remedy);
 */
export async function runDoctor(options: DoctorOptions = {}): Promise<DoctorReport> {
  // Loaded here only: no run should pay for it.
  const { diagnose } = await import('./doctor/diagnose.js');
  return diagnose(options);
}
