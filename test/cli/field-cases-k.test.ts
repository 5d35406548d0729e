/** Group K of the field cases, structured output, through the command: the same on each kind of backend. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writeAgentScript } from '../agents-room/acp-kit.js';
import { readJournal } from '../support/journal.js';
import { readJsonLines } from '../support/json-lines.js';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'testing', 'scripted-agent.mjs');
const USAGE = { in: 10, out: 5 };

/** An agent whose n-th attempt answers with the n-th text (the last repeats), 10 and 5 tokens each. */
interface Scripted {
  flags: string[];
  /** How often it was asked; `undefined` where nothing is started. */
  asked?(): number;
}
const BACKENDS: Record<string, (project: TestProject, texts: readonly string[]) => Scripted> = {
  command(project, texts) {
    const file = project.write('.agent/steps.json', JSON.stringify(texts.map((text) => ({ text, usage: USAGE }))));
    return { flags: ['--backend', 'command', '--command', JSON.stringify([process.execPath, PROGRAM, file])] };
  },
  mock(project, texts) {
    const usage = { inputTokens: USAGE.in, outputTokens: USAGE.out };
    const rules = texts.map((reply, i) => ({
      ...(i + 1 < texts.length && { when: { attempt: i + 1 } }),
      reply,
      usage,
    }));
    return { flags: ['--backend', 'mock', '--mock', project.write('.agent/rules.json', JSON.stringify(rules))] };
  },
  acp(_project, texts) {
    const tokens = { inputTokens: USAGE.in, outputTokens: USAGE.out };
    const agent = writeAgentScript({ steps: texts.map((say) => [{ tokens }, { say }]) });
    return {
      flags: ['--backend', 'acp', '--command', JSON.stringify(agent.argv)],
      asked: () => agent.notes().filter(({ what }) => what === 'prompt').length,
    };
  },
};

const SCHEMA = {
  type: 'object',
  properties: { verdict: { enum: ['yes', 'no'] }, score: { type: 'integer' } },
  required: ['verdict', 'score'],
  additionalProperties: false,
};
const GOOD = { verdict: 'yes', score: 3 };

const ask = (schema: object, options: object = {}): string =>
  workflow(`try {
  return { answer: await agent('Judge.', { label: 'judge', schema: ${JSON.stringify(schema)}, ...${JSON.stringify(options)} }) }
} catch (error) {
  return { error: error.name, message: error.message }
}`);

const linesOf = (project: TestProject, file: string): Record<string, unknown>[] =>
  readJsonLines(readFileSync(join(project.runDir(newestRun(project)), file), 'utf8'));

describe.each(Object.entries(BACKENDS))('on %s', (_name, make) => {
  const run = async (texts: readonly string[], script: string, files: Record<string, string> = {}) => {
    const project = makeProject({ files: { 'flow.js': script, ...files } });
    const agent = make(project, texts);
    const result = await runWf(['run', 'flow.js', ...agent.flags], { project });
    return { project, agent, ...result };
  };

  test('B-123 the last try is seen as such: attempts and the raw earlier answers are on record, their tokens counted', async () => {
    const { code, stdout, stderr, project, agent } = await run(
      ['RAW-ONE {"verdict":"maybe"}', 'RAW-TWO', JSON.stringify(GOOD)],
      ask(SCHEMA),
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ answer: GOOD });
    expect(stderr).toContain('3 attempts');
    expect(agent.asked?.() ?? 3).toBe(3);
    const journal = readJournal(join(project.runDir(newestRun(project)), 'journal.jsonl'));
    expect(journal[0]).toMatchObject({ kind: 'ok', attempts: 3, usage: { inputTokens: 30, outputTokens: 15 } });
    const events = JSON.stringify(linesOf(project, 'events.jsonl'));
    for (const raw of ['RAW-ONE', 'RAW-TWO', 'must be equal to one of the allowed values'])
      expect(events).toContain(raw);
  });

  test('B-123 an answer that fits only at the last try is marked: in record, summary and by agent.settled, on a resume too', async () => {
    const settled = workflow(
      `return await agent.settled('Judge.', { label: 'judge', schema: ${JSON.stringify(SCHEMA)} })`,
    );
    const { stdout, stderr, project, agent } = await run(['no', 'no', JSON.stringify(GOOD)], settled);
    expect(JSON.parse(stdout)).toEqual({ ok: true, value: GOOD, lastTry: true });
    expect(stderr).toMatch(/#1 judge: ok.*, 3 attempts, .*fitted its schema only at the last try/);
    expect(stderr).toMatch(/last try 1 answer fitted the schema only there; .*\n +#1 judge\n/);
    const first = newestRun(project);
    expect(readJournal(join(project.runDir(first), 'journal.jsonl'))[0]).toMatchObject({ lastTry: true });
    const again = await runWf(['run', '--resume-from', first], { project });
    expect(JSON.parse(again.stdout)).toEqual({ ok: true, value: GOOD, lastTry: true });
    expect(again.stderr).toMatch(/last try 1 answer fitted/);
    expect(agent.asked?.() ?? 3).toBe(3);
    expect(linesOf(project, 'events.jsonl').at(-1)).toMatchObject({ lastTries: [{ n: 1, label: 'judge' }] });
    const shown = await runWf(['show', newestRun(project), '--json'], { project });
    expect(JSON.parse(shown.stdout).calls).toMatchObject([{ reused: true, lastTry: true }]);
    const earlier = await run(['no', JSON.stringify(GOOD)], settled);
    expect(JSON.parse(earlier.stdout)).toEqual({ ok: true, value: GOOD });
    expect(earlier.stderr).not.toContain('last try');
  });

  test('B-123 a dummy after the last try is never asked for: three answers, and the call fails', async () => {
    const { code, stdout, project } = await run(['no', 'no', 'no', JSON.stringify(GOOD)], ask(SCHEMA));
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ error: 'StructuredOutputError' });
    expect(readState(project)).toMatchObject({ usage: { outputTokens: 15 }, failures: [{ code: 'WF_SCHEMA_UNMET' }] });
  });

  test.each([
    ['malformed', { type: 'object', required: 'verdict' }],
    ['unknown type', { type: 'dictionary' }],
    ['remote $ref', { $ref: 'https://example.invalid/verdict.json' }],
  ])('B-124 a schema that is no schema (%s) is the fault of the script: nothing is asked', async (_what, schema) => {
    const { stdout, agent, project } = await run([JSON.stringify(GOOD)], ask(schema));
    const { error, message } = JSON.parse(stdout);
    expect(error).toBe('TypeError');
    expect(message).toMatch(/schema/i);
    expect(agent.asked?.() ?? 0).toBe(0);
    expect(linesOf(project, 'events.jsonl').filter(({ type }) => type === 'call.started')).toEqual([]);
  });

  test.each([
    [
      'format',
      { type: 'object', properties: { at: { type: 'string', format: 'date' } }, required: ['at'] },
      { at: '2026-11-30' },
      { at: 'soon' },
    ],
    [
      'recursion',
      {
        $defs: {
          n: { type: 'object', properties: { next: { $ref: '#/$defs/n' }, v: { type: 'integer' } }, required: ['v'] },
        },
        $ref: '#/$defs/n',
      },
      { v: 1, next: { v: 2 } },
      { v: 1, next: {} },
    ],
    ['additionalProperties: false', SCHEMA, GOOD, { ...GOOD, extra: 1 }],
    [
      'draft-07',
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: [{ type: 'integer' }] },
      [1],
      ['x'],
    ],
  ])('B-124 one validator for all: %s', async (_what, schema, good, bad) => {
    const { code, stdout, project } = await run([JSON.stringify(bad), JSON.stringify(good)], ask(schema));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ answer: good });
    const [line] = readJournal(join(project.runDir(newestRun(project)), 'journal.jsonl'));
    expect(line).toMatchObject({ attempts: 2, usage: { outputTokens: 10 } });
  });

  test.each([
    ['an object', JSON.stringify(GOOD)],
    ['a JSON string', JSON.stringify(JSON.stringify(GOOD))],
    ['a fenced block', `Here:\n\n\`\`\`json\n${JSON.stringify(GOOD, null, 2)}\n\`\`\`\nThat is all.`],
    ['a sentence in front', `My verdict is ${JSON.stringify(GOOD)}`],
  ])('B-125 accepted: the answer as %s', async (_how, text) => {
    const { code, stdout } = await run([text], ask(SCHEMA));
    expect([code, JSON.parse(stdout)]).toEqual([0, { answer: GOOD }]);
  });

  test.each([
    ['inside of {result: …}', { result: GOOD }, 'must have required property'],
    ['with a number as text', { ...GOOD, score: '3' }, 'must be integer'],
  ])('B-125 not accepted: the answer %s; what was looked at is on record', async (_how, value, fault) => {
    const { stdout, project } = await run([JSON.stringify(value)], ask(SCHEMA));
    expect(JSON.parse(stdout)).toMatchObject({
      error: 'StructuredOutputError',
      message: expect.stringContaining(fault),
    });
    const told = linesOf(project, 'events.jsonl').filter(({ type }) => type === 'call.progress');
    expect(told.some(({ text }) => String(text).includes(JSON.stringify(value)))).toBe(true);
  });

  test('B-126 long prose and never JSON: the script is told, and all of the words are in the run folder', async () => {
    const prose = (n: number): string => `Try ${n} begins. ${'It is a long story. '.repeat(1_500)}Try ${n} ends.`;
    const { code, stdout, stderr, project } = await run([prose(1), prose(2), prose(3)], ask(SCHEMA));
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ error: 'StructuredOutputError' });
    const told = linesOf(project, 'events.jsonl').flatMap((event) =>
      event.type === 'call.progress' ? [event.text] : [],
    );
    for (const n of [1, 2, 3]) expect(told.some((text) => String(text).includes(prose(n)))).toBe(true);
    // The cause says where they are.
    expect(stderr).toContain('events.jsonl');
  });

  test.each(['[]', '[Read]'])('B-127 an agent type with the tools %s, and a schema', async (tools) => {
    const definition = `---\nname: narrow\ndescription: Few tools\ntools: ${tools}\n---\nYou answer in prose.\n`;
    const { code, stdout } = await run([JSON.stringify(GOOD)], ask(SCHEMA, { agentType: 'narrow' }), {
      '.claude/agents/narrow.md': definition,
    });
    expect([code, JSON.parse(stdout)]).toEqual([0, { answer: GOOD }]);
  });
});
