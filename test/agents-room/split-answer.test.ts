/** An answer of data that an agent spreads over several messages, with tools in between. */
import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { executeCall } from '../../src/agents/execute-call.js';
import { createJsonLines } from '../../src/agents/json-lines.js';
import { scriptAgent } from './acp-kit.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';
import { scriptedClaude } from './claude-kit.js';
import { scriptedCodex } from './codex-kit.js';

const ANSWER = {
  items: [
    { note: 'ä → 日本語', ok: true },
    { note: '👩‍👩‍👧 "quoted" }]', ok: false },
  ],
  rest: { n: 2 },
};
const TEXT = JSON.stringify(ANSWER);
/** So loose that a part of the answer would fit. */
const LOOSE = { type: 'object' };

/** The text in so many pieces; one cut goes through a character that is two units long. */
function split(count: number): string[] {
  const through = TEXT.indexOf('👩') + 1;
  const cuts = count === 2 ? [through] : [9, 24, through, TEXT.length - 12];
  return [0, ...cuts].map((start, i) => TEXT.slice(start, cuts[i]));
}

const between = <T>(pieces: readonly T[], tool: readonly T[]): T[] =>
  pieces.flatMap((piece, i) => (i === 0 ? [piece] : [...tool, piece]));

type Item = Record<string, unknown>;
const itemDone = (item: Item): Item => ({ type: 'item.completed', item });

/** In its first attempt the agent says the pieces, in its second the whole. */
const BACKENDS: Record<string, (pieces: readonly string[]) => Parameters<typeof executeCall>[0]> = {
  acp(pieces) {
    const said = pieces.map((say, i): Item => ({ say, messageId: `m${i}` }));
    const tool = { update: 'tool_call', fields: { toolCallId: 't', title: 'look', kind: 'read', status: 'completed' } };
    return scriptAgent({ steps: [between<Item>(said, [tool]), [{ say: TEXT }]] }).backend;
  },
  'acp, without ids of messages'(pieces) {
    const said = pieces.map((say): Item => ({ say }));
    const tool = { update: 'tool_call', fields: { toolCallId: 't', title: 'look', kind: 'read', status: 'completed' } };
    return scriptAgent({ steps: [between<Item>(said, [tool]), [{ say: TEXT }]] }).backend;
  },
  codex(pieces) {
    const said = pieces.slice(0, -1).map((text, i) => itemDone({ id: `m${i}`, type: 'agent_message', text }));
    const tool = itemDone({ id: 'c', type: 'command_execution', command: 'ls', status: 'completed' });
    return scriptedCodex([{ lines: [...between(said, [tool]), tool], text: pieces.at(-1) }, { text: TEXT }]).backend;
  },
  'claude without its tool for answers'(pieces) {
    const said = pieces.slice(0, -1).map((text) => claudeSays({ type: 'text', text }));
    const tool = claudeSays({ type: 'tool_use', id: 't', name: 'Read', input: {} });
    // It answers in words where it does not know the schema.
    const step = { before: [...between(said, [tool]), tool], text: pieces.at(-1), noAnswerTool: true };
    return scriptedClaude([step, { text: TEXT, noAnswerTool: true }]).backend;
  },
};
const claudeSays = (block: Item): Item => ({ type: 'assistant', message: { model: 'm', content: [block] } });

describe.each(Object.entries(BACKENDS))('%s', (_name, make) => {
  test.each([2, 5])('B-160 an answer in %i messages is the whole or none', async (count) => {
    const context = makeContext();
    const request = makeRequest({ schema: LOOSE });
    const outcome = await executeCall(make(split(count)), request, makePolicy(), context);
    if (outcome.kind !== 'ok') throw new Error(JSON.stringify(outcome));
    expect(JSON.parse(outcome.output)).toEqual(ANSWER);
    expect(context.retries.map(({ kind }) => kind)).toEqual(['schema']);
  });
});

test.each([2, 5])(
  'B-160 claude: with its tool for answers only that counts, whatever it says in %i messages',
  async (count) => {
    const before = split(count).map((text) => claudeSays({ type: 'text', text }));
    const { backend } = scriptedClaude([{ before, text: '{"items":[]}', result: { structured_output: ANSWER } }]);
    const outcome = await executeCall(backend, makeRequest({ schema: LOOSE }), makePolicy(), makeContext());
    expect(outcome).toMatchObject({ kind: 'ok', output: TEXT, attempts: 1 });
  },
);

test('B-160 lines of an agent come in any pieces, also cut inside of a character', () => {
  const line = Buffer.from(`${TEXT}\n`);
  for (let cut = 1; cut < line.length; cut++) {
    const values: unknown[] = [];
    const lines = createJsonLines(
      (value) => values.push(value),
      (other) => values.push(other),
    );
    lines.push(line.subarray(0, cut));
    lines.push(line.subarray(cut));
    lines.end();
    expect(values, `cut at ${cut}`).toEqual([ANSWER]);
  }
});
