import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  notes: string[];
}
const file = join(import.meta.dirname, '..', '..', 'scripts', 'count-report.mjs');
const { countReport, closingLine } = (await import(pathToFileURL(file).href)) as {
  countReport(report: object | undefined, exitCode: number): Counts;
  closingLine(counts: Omit<Counts, 'notes'>): string;
};

const report = (passed: number, failed: number, pending = 0, todo = 0, files: object[] = []) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: pending,
  numTodoTests: todo,
  testResults: files,
});

describe('the closing line of verify', () => {
  it('names skipped tests only when there are any', () => {
    expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
    expect(closingLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
  });

  it('counts tests, and todo as skipped', () => {
    expect(countReport(report(5, 0, 1, 1), 0)).toEqual({ passed: 5, failed: 0, skipped: 2, notes: [] });
    expect(countReport(report(5, 2), 1)).toMatchObject({ passed: 5, failed: 2 });
  });

  it('counts a file that failed outside of its tests, but not twice one whose tests failed', () => {
    const files = [
      { name: 'broken', status: 'failed', assertionResults: [] },
      { name: 'hook', status: 'failed', assertionResults: [{ status: 'passed' }] },
      { name: 'red', status: 'failed', assertionResults: [{ status: 'failed' }] },
      { name: 'green', status: 'passed', assertionResults: [{ status: 'passed' }] },
    ];
    expect(countReport(report(2, 1, 0, 0, files), 1)).toMatchObject({ passed: 2, failed: 3 });
  });

  it('says of each failed test where it stands and what it said, not longer than a few lines', () => {
    const failed = { status: 'failed', fullName: 'the run keeps it', failureMessages: [`no\n${'deep\n'.repeat(50)}`] };
    const { notes } = countReport(
      report(1, 1, 0, 0, [{ name: 'a.test.ts', status: 'failed', assertionResults: [failed] }]),
      1,
    );
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/^a\.test\.ts > the run keeps it\n {4}no\n {4}deep\n/);
    expect(notes[0]?.split('\n')).toHaveLength(13);
  });

  it('is never good when vitest was not: no report, another exit code, no test', () => {
    expect(countReport(undefined, 0)).toMatchObject({ failed: 1, notes: ['vitest wrote no report'] });
    expect(countReport(report(5, 0), 1)).toMatchObject({ passed: 5, failed: 1 });
    expect(countReport(report(0, 0), 0)).toMatchObject({ failed: 1, notes: ['no test ran'] });
    expect(countReport(report(0, 0, 4), 0)).toMatchObject({ failed: 1, skipped: 4 });
  });
});
