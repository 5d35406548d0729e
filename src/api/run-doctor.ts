import type { DoctorOptions, DoctorReport } from './doctor/doctor-report.js';

export type { DoctorFinding, DoctorOptions, DoctorReport, DoctorStep } from './doctor/doctor-report.js';

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
