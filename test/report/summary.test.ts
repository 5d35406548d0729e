import { describe, expect, test } from 'vitest';
import type { FinishedEvent, StartedEvent } from '../../src/report/run-account.js';
import { type SummaryOptions, summarizeRun } from '../../src/report/summary.js';
import { emptyUsage } from '../../src/shared/outcome.js';
import { counts, FOLDER, finished, RUN, stamp, started } from './sample-events.js';

const summarize = (end: object, start: object = {}, options: SummaryOptions = {}): string => {
  const [begin, finish] = stamp(started(start), finished(end));
  return summarizeRun(finish as FinishedEvent, begin as StartedEvent, options);
};

const failure = (n: number, label: string, phase: string | null, more: object = {}) => ({
  n,
  label,
  phase,
  status: 'failed',
  code: 'WF_AGENT_FAILED',
  message: 'exit 1: no such file',
  recovered: false,
  ...more,
});

describe('the summary', () => {
  test('a run in which all went well', () => {
    expect(
      summarize(
        {
          counts: counts({ calls: 3, ok: 3, executed: 3 }),
          phases: [{ title: null, counts: counts({ calls: 3, ok: 3, executed: 3 }) }],
        },
        {},
        { resultPlace: 'stdout' },
      ),
    ).toBe(`\
Run completed in 9.0 s: 3 of 3 calls gave an answer.
  run      ${RUN} (survey, backend command)
  result   stdout, also in ${FOLDER}/state.json
  calls    3: 3 ok; 0 reused, 3 executed
  tokens   unknown
  cost     unknown
`);
  });

  test('B-059 a shortfall is named although the script returned normally', () => {
    const all = counts({ calls: 10, ok: 8, failed: 2, executed: 10 });
    expect(
      summarize({
        exitCode: 3,
        counts: all,
        phases: [{ title: null, counts: all }],
        failures: [
          failure(4, 'item 4', null, { code: 'WF_SCHEMA_UNMET', message: 'no valid answer after 3 tries' }),
          failure(9, 'item 9', null, { code: 'WF_SCHEMA_UNMET', message: 'no valid answer after 3 tries' }),
        ],
        resumeCommand: `wf run --resume-from ${RUN}`,
      }),
    ).toBe(`\
Run completed in 9.0 s, but 2 of 10 calls gave no answer.
  run      ${RUN} (survey, backend command)
  result   ${FOLDER}/state.json
  calls    10: 8 ok, 2 failed; 0 reused, 10 executed
      failed #4 item 4: WF_SCHEMA_UNMET: no valid answer after 3 tries
      failed #9 item 9: WF_SCHEMA_UNMET: no valid answer after 3 tries
  tokens   unknown
  cost     unknown
  go on    wf run --resume-from ${RUN}
`);
  });

  test('B-058 each cause stands in the summary; all failed, one answered and none failed read differently', () => {
    const causes = ['WF_AGENT_TIMEOUT', 'WF_AGENT_UNREACHABLE', 'WF_SCHEMA_UNMET', 'WF_AGENT_FAILED', 'WF_AGENT_EMPTY'];
    const failures = causes.map((code, i) => failure(i + 1, `call ${i + 1}`, 'Work', { code }));
    const none = counts({ calls: 5, failed: 5, executed: 5 });
    const text = summarize({ exitCode: 3, counts: none, phases: [{ title: 'Work', counts: none }], failures });
    for (const code of causes) expect(text).toContain(code);
    const heads = [
      text,
      summarize({ exitCode: 3, counts: counts({ calls: 5, ok: 1, failed: 4 }) }),
      summarize({ counts: counts({ calls: 5, ok: 5 }) }),
    ].map((one) => one.split('\n')[0]);
    expect(heads).toEqual([
      'Run completed in 9.0 s, but 5 of 5 calls gave no answer.',
      'Run completed in 9.0 s, but 4 of 5 calls gave no answer.',
      'Run completed in 9.0 s: 5 of 5 calls gave an answer.',
    ]);
  });

  test('a script that threw shows its place and frame', () => {
    expect(
      summarize({
        status: 'failed',
        exitCode: 1,
        counts: counts({}),
        error: {
          code: 'WF_SCRIPT_THREW',
          message: 'notes is null',
          file: 'review.js',
          line: 4,
          column: 9,
          frame: '  3 | phase("a")\n> 4 | notes.map(x => x)\n    |       ^',
        },
      }),
    ).toBe(`\
Run failed after 9.0 s.
  run      ${RUN} (survey, backend command)
  cause    WF_SCRIPT_THREW: notes is null (review.js:4:9)
      3 | phase("a")
    > 4 | notes.map(x => x)
        |       ^
  result   none; the outcome is in ${FOLDER}/state.json
  calls    0; 0 reused, 0 executed
  tokens   unknown
  cost     unknown
`);
  });

  test('H7 H15 a call without a recorded result is neither failed nor undone, and the workspace comes first', () => {
    const text = summarize({
      status: 'interrupted',
      exitCode: 143,
      counts: counts({ calls: 4, ok: 2, noResult: 2, executed: 4 }),
    });
    expect(text).toContain('Run interrupted after 9.0 s.');
    expect(text).toContain('2 calls without a recorded result; what was done outside is not known, look there first');
    expect(text).not.toMatch(/failed|cancelled|never/);
  });

  test('recovered failures, made-up answers, limits, a result that is not there, a journal with holes', () => {
    const all = counts({ calls: 3, ok: 2, recovered: 1, reused: 1, executed: 2 });
    expect(
      summarize(
        {
          counts: all,
          hasResult: false,
          phases: [
            { title: null, counts: counts({ calls: 1, ok: 1, reused: 1 }) },
            { title: 'Ask', counts: counts({ calls: 2, ok: 1, recovered: 1, executed: 2 }) },
          ],
          failures: [failure(2, 'a', 'Ask', { recovered: true }), failure(3, 'b', 'Elsewhere', { status: 'skipped' })],
          usage: {
            ...emptyUsage(),
            inputTokens: 12_345,
            outputTokens: 10,
            usd: 0.004,
            savedOutputTokens: 7,
            savedUsd: 0.1,
          },
          journalComplete: false,
        },
        { madeUp: true, backend: 'mock' },
        { resultPlace: 'stdout' },
      ),
    ).toBe(`\
Run completed in 9.0 s: 2 of 3 calls gave an answer.
  run      ${RUN} (survey, backend mock)
  result   none, the script returned nothing; the outcome is in ${FOLDER}/state.json
  answers  made up, but for reused ones that an agent had given; only a run on mock reuses made-up ones
  calls    3: 2 ok, 1 failed, recovered; 1 reused, 2 executed
    no phase, 1 call: 1 ok; 1 reused, 0 executed
    phase Ask, 2 calls: 1 ok, 1 failed, recovered; 0 reused, 2 executed
      failed, recovered #2 a: WF_AGENT_FAILED: exit 1: no such file
      skipped #3 b: WF_AGENT_FAILED: exit 1: no such file
  tokens   12.3k in, 10 out; saved by reuse: 7 out
  cost     $0.0040; saved by reuse: $0.10
  journal  incomplete: results that could not be written will run again on a resume
`);
    expect(summarize({ journalComplete: false, stateWritten: false }, {}, { resultPlace: 'stdout' })).toContain(
      '  result   stdout; state.json could not be written\n',
    );
    expect(summarize({ counts: counts({ calls: 1, ok: 1, executed: 1 }) }, { madeUp: true })).toContain(
      '  answers  made up: no agent gave them, and only a run on mock reuses them\n',
    );
    const limited = {
      status: 'failed',
      exitCode: 6,
      error: { code: 'WF_USAGE_LIMIT', message: 'used up', resetsAt: '2026-01-02T15:00:00Z' },
    };
    expect(summarize(limited)).toContain('  cause    WF_USAGE_LIMIT: used up\n  until    2026-01-02 15:00 UTC');
  });

  test('B-147 a thousand failures stay a page', () => {
    const fail = (i: number) => failure(i + 1, `call ${i + 1}`, 'Work', { message: `exit 1: no file ${i + 1}` });
    const failures = Array.from({ length: 1_000 }, (_, i) => fail(i));
    const all = counts({ calls: 1_000, failed: 1_000, executed: 1_000 });
    const text = summarize({ counts: all, exitCode: 3, phases: [{ title: 'Work', counts: all }], failures });
    expect(text).toContain(`      and 960 more: wf show ${RUN}\n`);
    expect(text.split('\n').length).toBeLessThan(60);
  });

  test('calls of one phase with one cause are one row from the fourth on, counted where rows are left out', () => {
    const of = (n: number, more: object = {}) => failure(n, `call ${n}`, n > 5 ? 'Two' : null, more);
    const some = [1, 2, 3, 4].map((n) => of(n)).concat([6, 7, 8].map((n) => of(n)));
    const lines = (failures: object[]): string[] =>
      summarize({ failures })
        .split('\n')
        .filter((line) => line.startsWith('      '));
    expect(lines([...some, of(5, { recovered: true })])).toEqual([
      '      failed 4 calls, #1 call 1, #2 call 2, #3 call 3 and 1 more: WF_AGENT_FAILED: exit 1: no such file',
      '      failed #6 call 6: WF_AGENT_FAILED: exit 1: no such file',
      '      failed #7 call 7: WF_AGENT_FAILED: exit 1: no such file',
      '      failed #8 call 8: WF_AGENT_FAILED: exit 1: no such file',
      '      failed, recovered #5 call 5: WF_AGENT_FAILED: exit 1: no such file',
    ]);
    const wide = Array.from({ length: 50 }, (_, i) => Array.from({ length: 4 }, () => of(1, { message: `${i}` })));
    expect(lines(wide.flat()).slice(39)).toEqual([
      '      failed 4 calls, #1 call 1, #1 call 1, #1 call 1 and 1 more: WF_AGENT_FAILED: 39',
      `      and 40 more: wf show ${RUN}`,
    ]);
  });

  test('B-061 errors of the script that did not end it stand apart from failed calls, with their place and frame', () => {
    const error = (line: number, message: string) => ({
      code: 'WF_SCRIPT_THREW',
      message,
      file: 'x.js',
      line,
      column: 3,
      frame: `> ${line} | oops()\n    |   ^`,
    });
    const text = summarize({
      scriptErrors: { count: 9, first: [1, 2, 3, 4].map((n) => error(n, `ReferenceError: no ${n}`)) },
    });
    expect(text).toContain('  script   9 errors in the script became null in a slot, or nobody caught it:\n');
    expect(text).toContain('      ReferenceError: no 1 (x.js:1:3)\n    > 1 | oops()\n        |   ^\n');
    // Frames of the first three; the place of each.
    expect(text).toContain('ReferenceError: no 4 (x.js:4:3)\n');
    expect(text).not.toContain('> 4 | oops()');
  });

  test('an error with callers and a cause', () => {
    const cause = { code: 'WF_SCRIPT_THREW', message: 'TypeError: inner', file: 'x.js', line: 9, column: 1 };
    const stack = '    at a (x.js:2:1)\n    at async b (x.js:5:3)\n    at async x.js:7:1';
    const text = summarize({
      status: 'failed',
      error: { code: 'WF_SCRIPT_THREW', message: 'outer', file: 'x.js', line: 2, column: 1, stack, cause },
    });
    expect(text).toContain(
      'cause    WF_SCRIPT_THREW: outer (x.js:2:1)\n      at async b (x.js:5:3)\n      at async x.js:7:1\n',
    );
    expect(text).toContain('because  TypeError: inner (x.js:9:1)\n');
  });
});
