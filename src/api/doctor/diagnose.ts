/** Runs the checks of `wf doctor` one after another; a check that breaks is a finding and takes no other with it. */
import { messageOf } from '../../shared/errors.js';
import { observeRun } from '../../runs/run-status.js';
import { listRunFolders } from '../../runs/runs-folder.js';
import { findPlaces } from '../prepare-run.js';
import { CHECKS } from './checks.js';
import type { DoctorFinding, DoctorOptions, DoctorReport } from './doctor-report.js';
import type { DoctorCheck, DoctorContext, Finding, FindingStatus } from './finding.js';

export async function diagnose(options: DoctorOptions): Promise<DoctorReport> {
  const places = findPlaces(options);
  const now = options.now ?? Date.now();
  const context: DoctorContext = { places, runsDir: options.runsDir, runs: [], now };
  try {
    const folders = listRunFolders(places.runsFolder).filter((run) => run.readable);
    context.runs = folders.map((run) => ({ ...run, observed: observeRun(run.folder, now) }));
  } catch {
    // The check of the runs folder says why.
  }
  const findings: DoctorFinding[] = [];
  for (const check of CHECKS) {
    const tellStep = (mending: string | null): void =>
      options.onStep?.({ check: check.name, title: check.title, mending });
    tellStep(null);
    for (const finding of await lookSafely(check, context)) {
      if (options.fix === true && finding.fix !== undefined) tellStep(finding.path ?? finding.message);
      findings.push(await tellFinding(check, finding, options.fix === true));
    }
  }
  return { status: worstOf(findings), runsFolder: places.runsFolder, findings };
}

async function lookSafely(check: DoctorCheck, context: DoctorContext): Promise<readonly Finding[]> {
  try {
    return await check.look(context);
  } catch (error) {
    return [{ status: 'warn', message: `This could not be looked at: ${messageOf(error)}.` }];
  }
}

async function tellFinding(check: DoctorCheck, finding: Finding, mend: boolean): Promise<DoctorFinding> {
  const { status, message, remedy, runId, path, fix } = finding;
  const told: DoctorFinding = {
    check: check.name,
    title: check.title,
    status,
    message,
    remedy: remedy ?? null,
    runId: runId ?? null,
    path: path ?? null,
    fixable: fix !== undefined,
    fixed: null,
  };
  if (!mend || fix === undefined) return told;
  try {
    return { ...told, fixed: await fix() };
  } catch (error) {
    return { ...told, fixError: messageOf(error) };
  }
}

const ORDER: readonly FindingStatus[] = ['ok', 'note', 'warn', 'fault'];

/** What was mended no longer counts. */
function worstOf(findings: readonly DoctorFinding[]): FindingStatus {
  const left = findings.map((finding) => (finding.fixed === null ? ORDER.indexOf(finding.status) : 0));
  return ORDER[Math.max(0, ...left)] as FindingStatus;
}
