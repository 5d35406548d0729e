/** Records that cannot be read, and those that only another program reads. Neither is touched. */
import type { DoctorCheck, Finding } from './finding.js';

export const checkRecords: DoctorCheck = {
  name: 'records',
  title: 'Records of runs',
  look({ runs }) {
    const findings = runs.flatMap(({ runId, folder, observed: { summary } }): Finding[] => [
      ...(summary.damaged === undefined
        ? []
        : [
            {
              status: 'warn' as const,
              message: `Run ${runId}: ${summary.damaged}.`,
              remedy: `What can still be read is told by wf show ${runId}; put the file back from a copy if there is one.`,
              runId,
              path: folder,
            },
          ]),
      ...(summary.unsupported === undefined
        ? []
        : [
            {
              status: 'note' as const,
              message: `Run ${runId}: ${summary.unsupported}. It is left alone.`,
              remedy: 'Use the program that wrote it, or a newer wf.',
              runId,
              path: folder,
            },
          ]),
    ]);
    if (findings.length > 0) return findings;
    return runs.length === 0 ? [] : [{ status: 'ok', message: 'Every run has records that this wf can read.' }];
  },
};
