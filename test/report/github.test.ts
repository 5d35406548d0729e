import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/engine/events.js';
import { createGithubReporter } from '../../src/report/github.js';
import { counts, finished, mixedRun, RUN, stamp, started } from './sample-events.js';

function play(events: RunEvent[]): { log: string; summary: string } {
  let log = '';
  let summary = '';
  const reporter = createGithubReporter({
    write: (text) => {
      log += text;
    },
    writeSummary: (text) => {
      summary += text;
    },
  });
  for (const event of events) reporter.event(event);
  return { log, summary };
}

const failure = (n: number, more: object = {}) => ({
  n,
  label: `call ${n}`,
  phase: null,
  status: 'failed',
  code: 'WF_AGENT_FAILED',
  message: 'exit 1',
  recovered: false,
  ...more,
});

describe('the GitHub reporter', () => {
  test('writes annotations and one step summary, the whole texts', () => {
    const { log, summary } = play(mixedRun());
    expect(log).toBe(`\
::warning title=WF_AGENT_OPTIONS::agent() does not know the option "colour".
::error title=wf%3A call #5 vote 2::WF_AGENT_TIMEOUT: No end within 60 s.
`);
    expect(summary).toBe(`\
## wf: survey cancelled

Run \`${RUN}\`, backend command, 3 min 5 s, exit code 130.

| phase | calls | ok | failed | no result | reused | executed |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| Facts | 3 | 3 | 0 | 0 | 3 | 0 |
| Votes | 4 | 2 | 1 | 1 | 0 | 3 |
| ▸ child | 2 | 2 | 0 | 0 | 0 | 2 |
| **all** | 9 | 7 | 1 | 1 | 3 | 5 |

Tokens: 1,200 in, 340 out; saved by reuse 21.0k out. Cost: $0.02.

### 1 call to look at

- failed: #5 vote 2 (Votes): WF_AGENT_TIMEOUT, No end within 60 s.

To go on:

\`\`\`sh
wf run --resume-from ${RUN}
\`\`\`

`);
  });

  test('a script error points at its line', () => {
    const error = {
      code: 'WF_SCRIPT_THREW',
      message: 'no\nnotes: 100%',
      file: '.claude/workflows/a,b.js',
      line: 3,
      column: 7,
    };
    expect(play(stamp(started(), finished({ status: 'failed', exitCode: 1, error }))).log).toBe(
      '::error file=.claude/workflows/a%2Cb.js,line=3,col=7,title=wf%3A WF_SCRIPT_THREW::WF_SCRIPT_THREW: no notes: 100%25\n',
    );
  });

  test('no text of a script or agent can make a command, a table or a link of its own', () => {
    const rude = 'x\n::error::y | <script>@all [a](b) `c` # d';
    const { log, summary } = play(
      stamp(
        started({ workflow: rude }),
        { type: 'warning', code: 'WF_X', message: rude },
        finished({
          exitCode: 3,
          phases: [{ title: rude, counts: counts({ calls: 1 }) }],
          failures: [failure(1, { label: rude, message: rude })],
          resumeCommand: 'wf run ```\nx',
        }),
      ),
    );
    expect(
      log
        .trim()
        .split('\n')
        .map((line) => line.slice(0, 9)),
    ).toEqual(['::warning', '::error t']);
    expect(summary).not.toMatch(/<script>|@all|[^\\]\[a/);
    expect(summary).toContain('| x ::error::y \\| &lt;script&gt;&#64;all \\[a\\]\\(b\\) \\`c\\` \\# d | 1 |');
    expect(summary).toContain('````sh\nwf run ```\nx\n````');
  });

  test('allowed failures are warnings, recovered ones are silent, and the tenth names the rest', () => {
    const failures = Array.from({ length: 30 }, (_, i) => failure(i + 1));
    const allowed = play(stamp(started(), finished({ exitCode: 0, failures: failures.slice(0, 2) }))).log;
    expect(allowed.match(/^::\w+/gm)).toEqual(['::warning', '::warning']);
    expect(play(stamp(started(), finished({ failures: [failure(1, { recovered: true })] }))).log).toBe('');
    const many = play(stamp(started(), finished({ exitCode: 3, failures })))
      .log.trim()
      .split('\n');
    expect(many.length).toBe(10);
    expect(many.at(-1)).toBe(`::error title=wf::21 more calls gave no answer: wf show ${RUN}`);
  });
});
