/** Journals that somebody edited or put together, with right checksums: never a crash, never a wrong or lost answer. */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { journalFile } from '../support/journal.js';
import type { TestProject } from '../support/temp-project.js';
import { ALL, type FourCalls, OTHER_SECOND, runFourCalls } from './support/four-calls.js';
import { run } from './support/runs.js';
import type { ShellAgent } from './support/shell-agent.js';

let project: TestProject;
let agent: ShellAgent;
let source: string;
let lines: string[];
let answers: string[];
let four: FourCalls;
beforeAll(async () => {
  four = await runFourCalls();
  ({ project, agent, source, lines, answers } = four);
});

it('R3 R4 an answer that is no JSON behind a right checksum is asked again by name, and no verb stumbles over it', async () => {
  for (const forged of [
    four.rewritten(2, '"output":"[\\"L2', '"output":"[\\!L2'),
    // Its members in another order than ours, so that it is read and written again.
    four.rewritten(2, /^(.*)("nth":0),("label":"L2"),(.*)"output":"\[\\"L2/, '$1$3,$2,$4"output":"[\\!L2'),
  ]) {
    four.plant(lines.with(1, forged).join(''));
    const resumed = await run(project, ['--resume-from', source]);
    expect([resumed.code, agent.started(resumed.id)]).toEqual([0, ['L2']]);
    expect(resumed.stderr).toMatch(
      /The recorded answer of "L2" is not JSON; it is asked again|1 unreadable line \(line 2: answer is not JSON\)/,
    );
    expect((resumed.result as string[]).toSpliced(1, 1)).toEqual(answers.toSpliced(1, 1));
    // What was asked again counts from now on.
    const next = await run(project, ['--resume-from', resumed.id]);
    expect([next.result, agent.started(next.id)]).toEqual([resumed.result, []]);

    const strict = await four.tell('run', '--resume-from', source, '--strict');
    expect(strict).toEqual({
      code: 4,
      text: expect.stringContaining('1 unreadable line (line 2: answer is not JSON)'),
    });
    expect((await four.tell('plan', '--resume-from', source)).text).toMatch(/#2 +live +L2/);
    const shown = await four.tell('show', source);
    expect(shown.text).toMatch(/#2 +L2 +no result recorded/);
    expect(shown.text).toContain('The journal has 1 unreadable line (line 2: answer is not JSON)');
    for (const words of [['show', source, '#2'], ['explain', source], ['ls'], ['doctor']]) await four.tell(...words);
  }
});

it('R3 --match prefix: an answer that cannot be given to its call is no hit, so nothing behind it is one', async () => {
  four.plant(lines.with(1, four.rewritten(2, '"output":"[\\"L2', '"output":"[\\!L2')).join(''));
  const resumed = await run(project, ['--resume-from', source, '--match', 'prefix']);
  expect([resumed.code, agent.started(resumed.id)]).toEqual([0, ['L2', 'L3', 'L4']]);
  expect((resumed.result as string[])[0]).toBe(answers[0]);
});

it.each([
  ['prompt', 7],
  ['prompt', null],
  ['prompt', { a: 1 }],
  ['opts', 'text'],
  ['attempts', 'many'],
  ['startedAt', 5],
  ['model', {}],
  ['sessionId', []],
])(
  'R3 R4 a %s that is %j behind a right checksum costs no run its end: the answer is reused, and strict resumes refuse',
  async (name, value) => {
    four.plant(lines.with(1, four.edited(2, { [name]: value, pad: 'x'.repeat(40) })).join(''));
    const same = await run(project, ['--resume-from', source]);
    expect([same.code, same.result, agent.started(same.id)]).toEqual([0, answers, []]);
    // The reason for a call that runs instead is looked for in that very line.
    const other = await run(project, ['--resume-from', source, ...OTHER_SECOND]);
    expect([other.code, agent.started(other.id)]).toEqual([0, ['new']]);
    const plan = await four.tell('plan', '--resume-from', source, ...OTHER_SECOND);
    expect([plan.code, plan.text]).toEqual([0, expect.stringMatching(/#2 +live +new/)]);
    for (const words of [
      ['show', source],
      ['show', source, '#2'],
      ['explain', source],
      ['explain', other.id],
    ]) {
      const { code } = await four.tell(...words);
      // Of the line that is left out there is no call to be shown in full.
      if (words.length < 3) expect(code).toBe(0);
    }
    const strict = await four.tell('run', '--resume-from', source, '--strict');
    expect(strict).toEqual({ code: 4, text: expect.stringContaining('1 unreadable line (line 2: wrong shape)') });
  },
);

it('R3 R4 J15 a key that is not that of its prompt: the key alone decides, and strict resumes and the doctor name the line', async () => {
  // Its prompt was edited, its key is that of the call.
  four.plant(lines.with(1, four.edited(2, { prompt: 'do something else' })).join(''));
  const byKey = await run(project, ['--resume-from', source]);
  expect([byKey.code, byKey.result, agent.started(byKey.id)]).toEqual([0, answers, []]);
  const fault = '1 unreadable line (line 2: key does not fit its prompt)';
  expect(await four.tell('run', '--resume-from', source, '--strict')).toEqual({
    code: 4,
    text: expect.stringContaining(fault),
  });
  expect((await four.tell('doctor')).text).toContain(fault);
  // Its key was edited to one that no call has: its prompt brings it back to no call.
  four.plant(lines.with(1, four.edited(2, { key: 'f'.repeat(64) })).join(''));
  const byPrompt = await run(project, ['--resume-from', source]);
  expect([byPrompt.code, agent.started(byPrompt.id)]).toEqual([0, ['L2']]);
  expect((byPrompt.result as string[]).toSpliced(1, 1)).toEqual(answers.toSpliced(1, 1));
});

it('J12 R3 the lines of two runs in one journal: no answer of either is lost or used for another call', async () => {
  four.plant(lines.join(''));
  const names = ['M1', 'M2', 'M3'];
  const second = await run(project, ['four.js', '--args', JSON.stringify(names), ...agent.flags]);
  const others = readFileSync(journalFile(project, second.id) as string, 'utf8').split(/(?<=\n)/);
  for (const mixed of [
    [...lines, ...others],
    [...others, ...lines],
    [lines[0], ...others, ...lines.slice(1)],
  ]) {
    four.plant(mixed.join(''));
    const one = await run(project, ['--resume-from', source]);
    expect([one.code, one.result, agent.started(one.id)]).toEqual([0, answers, []]);
    const two = await run(project, ['--resume-from', source, '--args', JSON.stringify(names)]);
    expect([two.code, two.result, agent.started(two.id)]).toEqual([0, second.result, []]);
    expect((await four.tell('show', source)).text).toMatch(
      /The journal has [34] results more, .* lines of another run stand in it/,
    );
  }
  // The same with the lines of two resumes, whose kept lines bear the same numbers.
  four.plant(lines.join(''));
  const three = (await run(project, ['--resume-from', source])).id;
  const beside = (await run(project, ['--resume-from', second.id])).id;
  const file = journalFile(project, three) as string;
  writeFileSync(file, readFileSync(file, 'utf8') + readFileSync(journalFile(project, beside) as string, 'utf8'));
  for (const [args, result] of [
    [ALL, answers],
    [names, second.result],
  ]) {
    const five = await run(project, ['--resume-from', three, '--args', JSON.stringify(args)]);
    expect([five.code, five.result, agent.started(five.id)]).toEqual([0, result, []]);
  }
});
