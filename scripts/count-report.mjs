// From vitest's JSON report and exit code to the one line that says how the tests went.

/**
 * @param report what vitest's `json` reporter wrote, or `undefined` when it wrote nothing
 * @param exitCode vitest's own exit code
 * @returns {{ passed: number, failed: number, skipped: number, notes: string[] }} `notes` say what failed, one text each
 */
export function countReport(report, exitCode) {
  if (!report) return { passed: 0, failed: 1, skipped: 0, notes: ['vitest wrote no report'] };
  const notes = [];
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  let failed = report.numFailedTests;
  for (const file of report.testResults) {
    for (const test of file.assertionResults) if (test.status === 'failed') notes.push(describeFailure(file, test));
    // A file that could not be loaded, or whose hooks failed, has no failed test to be counted by.
    if (file.status !== 'failed' || file.assertionResults.some((test) => test.status === 'failed')) continue;
    failed++;
    notes.push(`${file.name} failed outside of its tests`);
  }
  if (exitCode !== 0 && failed === 0) {
    failed = 1;
    notes.push(`vitest ended with exit code ${exitCode}`);
  }
  if (passed + failed === 0) {
    failed = 1;
    notes.push('no test ran');
  }
  return { passed, failed, skipped, notes };
}

/** So long may what a failed test says be, in lines: it stands in full where the runner printed it. */
const LINES = 12;

// Said again at the end, since a long log may be kept by its last part only.
function describeFailure(file, { fullName, failureMessages = [] }) {
  const said = failureMessages.join('\n').split('\n').slice(0, LINES);
  return [`${file.name} > ${fullName}`, ...said].join('\n    ');
}

/** The counts of two runs of vitest together. */
export const addCounts = (a, b) => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
  notes: [...a.notes, ...b.notes],
});

/** The plain closing line, as CI reads it. */
export const closingLine = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
