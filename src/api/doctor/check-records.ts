/** Records and scripts that cannot be read, and those that only another program reads. None is touched. */
import { WfError } from '../../shared/errors.js';
import { readStoredScript } from '../stored-script.js';
import type { DoctorCheck, DoctorRun, Finding } from './finding.js';

export const checkRecords: DoctorCheck = {
  name: 'records',
  title: 'Records of runs',
  look({ runs }) {
    const findings = runs.flatMap((run) => [...lookAtRecords(run), ...lookAtScript(run)]);
    if (findings.length > 0) return findings;
    return runs.length === 0 ? [] : [{ status: 'ok', message: 'Every run has records that this wf can read.' }];
  },
};

function lookAtRecords({ runId, folder, observed: { summary } }: DoctorRun): Finding[] {
  const findings: Finding[] = [];
  if (summary.damaged !== undefined) {
    findings.push({
      status: 'warn',
      message: `Run ${runId}: ${summary.damaged}.`,
      remedy: `What can still be read is told by wf show ${runId}; put the file back from a copy if there is one.`,
      runId,
      path: folder,
    });
  }
  if (summary.unsupported !== undefined) {
    findings.push({
      status: 'note',
      message: `Run ${runId}: ${summary.unsupported}. It is left alone.`,
      remedy: 'Use the program that wrote it, or a newer wf.',
      runId,
      path: folder,
    });
  }
  return findings;
}

/** A resume by the id alone needs it. */
function lookAtScript({ runId, folder, observed: { record } }: DoctorRun): Finding[] {
  if (record === null) return [];
  try {
    readStoredScript(folder, record);
    return [];
  } catch (error) {
    if (!WfError.is(error)) throw error;
    return [{ status: 'warn', message: error.message, remedy: error.remedy ?? '', runId, path: folder }];
  }
}
