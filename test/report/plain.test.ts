import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/engine/events.js';
import { loadPaint } from '../../src/report/paint.js';
import { createPlainReporter, type PlainOptions } from '../../src/report/plain.js';
import { makeFakeClock } from './fake-clock.js';
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

function play(events: RunEvent[], options: Partial<PlainOptions> = {}) {
  let text = '';
  const clock = makeFakeClock();
  const reporter = createPlainReporter({
    write: (part) => {
      text += part;
    },
    clock,
    ...options,
  });
  for (const event of events) reporter.event(event);
  return { reporter, clock, text: () => text };
}

const ESC = String.fromCharCode(27);

describe('the plain reporter', () => {
  test('B-148 writes one line an event and then the summary, with the same numbers', () => {
    expect(play(mixedRun(), { resultPlace: 'stdout' }).text()).toBe(`\
12:00:00 run ${RUN} started: survey, backend command, 4 calls at once, resumed from ${SOURCE} with 3 recorded results, folder ${FOLDER}
12:00:01 phase: Facts
12:00:02 #1 src/a.ts [Facts]: queued
12:00:03 #2 src/b.ts [Facts]: queued
12:00:04 #3 src/c.ts [Facts]: queued
12:00:05 #1 src/a.ts [Facts]: ok, reused from run ${SOURCE}
12:00:06 #2 src/b.ts [Facts]: ok, reused from run ${SOURCE}
12:00:07 #3 src/c.ts [Facts]: ok, reused from run ${SOURCE}
12:00:08 phase: Votes
12:00:09 #4 vote 1 [Votes]: queued
12:00:10 #5 vote 2 [Votes]: queued
12:00:11 #6 vote 3 [Votes]: queued
12:00:12 #7 vote 4 [Votes]: queued
12:00:13 #4 vote 1 [Votes]: started
12:00:14 #5 vote 2 [Votes]: started
12:00:15 #4 vote 1: tried again in 5.0 s (rate_limit, attempt 1)
12:00:16 #5 vote 2: tried again in 5.0 s (rate_limit, attempt 1)
12:00:17 #4 vote 1 [Votes]: attempt 2 started
12:00:18 #5 vote 2 [Votes]: attempt 2 started
12:00:19 #6 vote 3 [Votes]: started
12:00:20 #4 vote 1 [Votes]: ok, 1.2 s, 2 attempts, 1,200 tokens in, 340 out
12:00:21 #5 vote 2 [Votes]: failed (WF_AGENT_TIMEOUT: No end within 60 s.), 1 min, 2 attempts
12:00:22 #6 vote 3 [Votes]: ok, 1.2 s
12:00:23 #8 inner 1 [▸ child]: queued
12:00:24 #8 inner 1 [▸ child]: started
12:00:25 #8 inner 1 [▸ child]: ok, 1.2 s
12:00:26 #9 inner 2 [▸ child]: queued
12:00:27 #9 inner 2 [▸ child]: started
12:00:28 #9 inner 2 [▸ child]: ok, 1.2 s
12:00:29 warning: WF_AGENT_OPTIONS: agent() does not know the option "colour".
12:00:30 #7 vote 4 [Votes]: no result recorded
12:00:31 run ${RUN} cancelled after 3 min 5 s, exit code 130
Run cancelled after 3 min 5 s.
  run      ${RUN} (survey, backend command)
  from     ${SOURCE}, 3 recorded results
  result   none; the outcome is in ${FOLDER}/state.json
  calls    9: 7 ok, 1 failed, 1 with no result recorded; 3 reused, 5 executed
    phase Facts, 3 calls: 3 ok; 3 reused, 0 executed
    phase Votes, 4 calls: 2 ok, 1 failed, 1 with no result recorded; 0 reused, 3 executed
      failed #5 vote 2: WF_AGENT_TIMEOUT: No end within 60 s.
    phase ▸ child, 2 calls: 2 ok; 0 reused, 2 executed
  open     1 call without a recorded result; what was done outside is not known, look there first
  tokens   1,200 in, 340 out; saved by reuse: 21.0k out
  cost     $0.02; saved by reuse: unknown
  go on    wf run --resume-from ${RUN}
`);
  });

  test('other words: logs by level, made-up answers, a skip, progress', () => {
    const events = stamp(
      started({ madeUp: true, backend: 'mock', concurrency: 1 }),
      { type: 'log', level: 'log', message: 'two\nlines' },
      { type: 'log', level: 'warn', message: 'careful' },
      begun(1, 'a'),
      { type: 'call.progress', n: 1, label: 'a', text: 'reads' },
      ended(1, 'a', null, { status: 'skipped' }),
    );
    expect(play(events).text()).toBe(`\
12:00:00 run ${RUN} started: survey, backend mock, its answers are made up, 1 call at once, folder ${FOLDER}
12:00:01 log: two lines
12:00:02 log (warn): careful
12:00:03 #1 a: started
12:00:04 #1 a: reads
12:00:05 #1 a: skipped, 1.2 s
`);
  });

  test('B-147 a heartbeat every 30 s names what runs with its silence, and the gap between phases still runs', () => {
    const { reporter, clock, text } = play(
      stamp(started(), queued(1, 'streams'), queued(2, 'hangs'), queued(3, 'waits')),
    );
    const tell = (...bodies: Parameters<typeof stamp>): void => {
      for (const event of stamp(...bodies)) reporter.event(event);
    };
    tell(begun(1, 'streams', 'Work'), begun(2, 'hangs', 'Work'));
    clock.advance(25_000);
    tell({ type: 'call.progress', n: 1, label: 'streams', text: 'still at it' });
    const before = text().length;
    clock.advance(5_000);
    tell(ended(1, 'streams', 'Work'), ended(2, 'hangs', 'Work'), ended(3, 'waits'));
    clock.advance(31_000);
    const beats = text()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('still running'));
    expect(beats).toEqual([
      '12:00:30 run still running after 30 s: 0 of 3 calls so far ended, 1 queued, 2 running: #2 hangs [Work] (last activity 30 s ago), #1 streams [Work] (last activity 5 s ago)',
      '12:01:00 run still running after 1 min: 3 of 3 calls so far ended, none running, last event 30 s ago',
    ]);
  });

  test('B-147 the heartbeat is bounded and survives a jump of the wall clock', () => {
    const many = Array.from({ length: 300 }, (_, i) => begun(i + 1, 'x'.repeat(1000)));
    const { clock, text } = play(stamp(started(), ...many));
    const before = text().length;
    clock.wallJump(-3_600_000);
    clock.advance(30_000);
    const beat = text().slice(before);
    expect(beat).toContain('11:00:30 run still running after 30 s: 0 of 300 calls so far ended, 300 running: #1 x');
    expect(beat).toContain(', 295 more\n');
    expect(beat.length).toBeLessThan(1_000);
  });

  test('B-152 the heartbeat ends with the run, and with close() when no end came', () => {
    const whole = play(stamp(started(), finished()));
    expect(whole.clock.timers()).toBe(0);
    const torn = play(stamp(started()));
    expect(torn.clock.timers()).toBe(1);
    torn.reporter.close?.();
    expect(torn.clock.timers()).toBe(0);
  });

  test('B-147 no cursor codes and bounded lines, whatever scripts and agents say', () => {
    const rude = `${ESC}[2J${ESC}[1A\u0007\r\n::error::x${'y'.repeat(100_000)}`;
    const events = stamp(
      started({ workflow: rude }),
      { type: 'phase', title: rude },
      { type: 'log', level: 'log', message: rude },
      { type: 'warning', code: 'WF_X', message: rude },
      queued(1, rude, rude),
      begun(1, rude, rude),
      { type: 'call.progress', n: 1, label: rude, text: rude },
      ended(1, rude, rude, { status: 'failed', error: { code: 'WF_AGENT_FAILED', message: rude } }),
      finished({
        status: 'failed',
        exitCode: 1,
        error: { code: 'WF_SCRIPT_THREW', message: rude, frame: `> 1 | ${rude}` },
        phases: [{ title: rude, counts: counts({ calls: 1, failed: 1 }) }],
        failures: [{ n: 1, label: rude, phase: rude, status: 'failed', code: 'WF_X', message: rude, recovered: false }],
      }),
    );
    const text = play(events).text();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is what is tested
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(900);
    // A line of a log on GitHub that begins so would be a command.
    expect(text).not.toMatch(/^\s*::/m);
  });

  test('B-147 a stream of progress is one line in 5 s for each call', () => {
    const { reporter, clock, text } = play(stamp(started(), begun(1, 'a'), begun(2, 'b')));
    for (let i = 0; i < 1_000; i++) {
      for (const n of [1, 2])
        reporter.event(stamp({ type: 'call.progress', n, label: 'l', text: `word ${i}` })[0] as RunEvent);
      clock.advance(10);
    }
    expect(text().match(/ word \d+/g)).toEqual([' word 0', ' word 0', ' word 500', ' word 500']);
  });

  test('quiet tells only of trouble, and of calls that never got their turn only their number', () => {
    expect(play(stamp(started(), begun(1, 'a'), ended(1, 'a'), finished()), { quiet: true }).text()).toBe('');
    const text = play(mixedRun(), { quiet: true }).text();
    expect(text.split('\n').slice(0, 3)).toEqual([
      '12:00:21 #5 vote 2 [Votes]: failed (WF_AGENT_TIMEOUT: No end within 60 s.), 1 min, 2 attempts',
      '12:00:29 warning: WF_AGENT_OPTIONS: agent() does not know the option "colour".',
      'Run cancelled after 3 min 5 s.',
    ]);
  });

  test('colours come only when they are asked for, and change no word', async () => {
    const plain = play(mixedRun()).text();
    const painted = play(mixedRun(), { paint: await loadPaint(true) }).text();
    expect(plain).not.toContain(ESC);
    expect(painted).toContain(`${ESC}[32mok${ESC}[39m`);
    expect(painted.replaceAll(new RegExp(`${ESC}\\[\\d+m`, 'g'), '')).toBe(plain);
    expect(play(mixedRun(), { paint: await loadPaint(false) }).text()).toBe(plain);
  });

  test('a closed output stops the printing and nothing else, in the heartbeat too', () => {
    let writes = 0;
    const write = (): void => {
      writes++;
      throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    };
    const { reporter, clock } = play(stamp(started()), { write });
    clock.advance(90_000);
    for (const event of mixedRun()) reporter.event(event);
    expect(writes).toBe(1);
  });
});
