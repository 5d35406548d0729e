import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/engine/events.js';
import { createJsonReporter } from '../../src/report/json.js';
import { createJsonlReporter } from '../../src/report/jsonl.js';
import { createJunitReporter } from '../../src/report/junit.js';
import {
  begun,
  counts,
  ended,
  FOLDER,
  finished,
  mixedRun,
  queued,
  RUN,
  SOURCE,
  stamp,
  started,
} from './sample-events.js';

type Make = (options: { write: (text: string) => void }) => { event(event: RunEvent): void };

const collect = (make: Make, events: RunEvent[]): string => {
  let text = '';
  const reporter = make({
    write: (part) => {
      text += part;
    },
  });
  for (const event of events) reporter.event(event);
  return text;
};

describe('jsonl', () => {
  test('is one event a line, unchanged', () => {
    const lines = collect(createJsonlReporter, mixedRun()).split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.map((line) => JSON.parse(line))).toEqual(mixedRun());
  });
  test('B-152 three calls that end in the same tick are three lines, and the last line is the end of the run', () => {
    const events = stamp(started(), ...[1, 2, 3].map((n) => ended(n, `c${n}`)), finished({ exitCode: 3 }));
    const told = collect(createJsonlReporter, events)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(told.filter((event) => event.type === 'call.finished').map((event) => event.n)).toEqual([1, 2, 3]);
    expect(told.at(-1)).toMatchObject({ type: 'run.finished', status: 'completed', exitCode: 3 });
  });
  test('line ends and lone surrogates in texts do not break a line', () => {
    const text = collect(createJsonlReporter, stamp({ type: 'log', level: 'log', message: 'a\nb\u2028\ud800' }));
    expect(text).toBe('{"t":"2026-01-02T12:00:00.000Z","type":"log","level":"log","message":"a\\nb\u2028\\ud800"}\n');
  });
});

describe('json', () => {
  test('is one object at the end, the whole text', () => {
    const error = { code: 'WF_AGENT_FAILED', message: 'exit 1', frame: 'x' };
    const events = stamp(
      started({ resumedFrom: SOURCE, kept: 1 }),
      queued(2, 'b'),
      queued(1, 'a', 'P'),
      begun(1, 'a', 'P'),
      ended(1, 'a', 'P', { status: 'failed', error, usage: { inputTokens: 1, outputTokens: 2 } }),
      ended(2, 'b', null, { reused: true, from: SOURCE, attempts: 0, durationMs: 0 }),
      finished({ counts: counts({ calls: 2 }), exitCode: 3 }),
    );
    expect(collect(createJsonReporter, events.slice(0, -1))).toBe('');
    const expected = {
      workflow: 'survey',
      backend: 'command',
      madeUp: false,
      resumedFrom: SOURCE,
      startedAt: '2026-01-02T12:00:00.000Z',
      endedAt: '2026-01-02T12:00:06.000Z',
      runId: RUN,
      folder: FOLDER,
      status: 'completed',
      exitCode: 3,
      counts: counts({ calls: 2 }),
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, usd: null, savedOutputTokens: 0, savedUsd: null },
      phases: [],
      failures: [],
      journalComplete: true,
      durationMs: 9_000,
      calls: [
        {
          n: 1,
          label: 'a',
          phase: 'P',
          status: 'failed',
          reused: false,
          from: null,
          attempts: 1,
          durationMs: 1_234,
          error: { code: 'WF_AGENT_FAILED', message: 'exit 1' },
          usage: { inputTokens: 1, outputTokens: 2 },
        },
        { n: 2, label: 'b', phase: null, status: 'ok', reused: true, from: SOURCE, attempts: 0, durationMs: 0 },
      ],
      warnings: [],
    };
    expect(collect(createJsonReporter, events)).toBe(`${JSON.stringify(expected, null, 2)}\n`);
  });
  test('B-148 its calls and its counts agree', () => {
    const report = JSON.parse(collect(createJsonReporter, mixedRun()));
    expect(report.calls.length).toBe(report.counts.calls);
    expect(report.calls.filter((call: { reused: boolean }) => call.reused).length).toBe(report.counts.reused);
  });
});

describe('junit', () => {
  test('is one test case a call, and one for a run that did not complete', () => {
    const totals = 'tests="10" failures="1" errors="1" skipped="1" time="185.000"';
    expect(collect(createJunitReporter, mixedRun())).toBe(`\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="wf" ${totals}>
  <testsuite name="survey" id="${RUN}" timestamp="2026-01-02T12:00:00.000Z" ${totals}>
    <testcase name="#1 src/a.ts" classname="Facts" time="0.000"/>
    <testcase name="#2 src/b.ts" classname="Facts" time="0.000"/>
    <testcase name="#3 src/c.ts" classname="Facts" time="0.000"/>
    <testcase name="#4 vote 1" classname="Votes" time="1.234"/>
    <testcase name="#5 vote 2" classname="Votes" time="60.000"><failure type="WF_AGENT_TIMEOUT" message="No end within 60 s.">No end within 60 s.</failure></testcase>
    <testcase name="#6 vote 3" classname="Votes" time="1.234"/>
    <testcase name="#7 vote 4" classname="Votes" time="0.000"><skipped message="no result recorded"/></testcase>
    <testcase name="#8 inner 1" classname="▸ child" time="1.234"/>
    <testcase name="#9 inner 2" classname="▸ child" time="1.234"/>
    <testcase name="run" classname="survey" time="185.000"><error type="cancelled" message="The run ended as cancelled.">The run ended as cancelled.</error></testcase>
  </testsuite>
</testsuites>
`);
  });

  test('foreign text stays text, and a recovered failure passes with a note', () => {
    const error = { code: 'WF_AGENT_FAILED', message: 'a <b> & "c" \u0000\ufffe]]>' };
    const events = stamp(
      started(),
      ended(1, '<x a="b">', '&', { status: 'failed', error }),
      finished({
        failures: [{ n: 1, label: 'x', phase: null, status: 'failed', recovered: true, ...error }],
      }),
    );
    expect(collect(createJunitReporter, events)).toContain(
      '<testcase name="#1 &lt;x a=&quot;b&quot;&gt;" classname="&amp;" time="1.234"><system-out>failed, recovered: WF_AGENT_FAILED: a &lt;b&gt; &amp; &quot;c&quot; \ufffd]]&gt;</system-out></testcase>',
    );
  });
});
