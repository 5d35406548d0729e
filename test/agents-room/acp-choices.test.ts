/** What an `acp` agent lets a call choose, and what it is allowed to do. */
import { describe, expect, test } from 'vitest';
import { expectNothingLeft, messageOf, progressOf, type ScriptedAgent, scriptAgent, warningsOf } from './acp-kit.js';

describe('model, effort, mode', () => {
  const select = (id: string, category: string, values: string[]): object => ({
    ...{ id, category, name: id, type: 'select', currentValue: values[0] },
    options: values.map((value) => ({ value, name: value.toUpperCase() })),
  });

  test('the model by the option of that category, the effort by the level of thought', async () => {
    const configOptions = [select('m', 'model', ['small', 'large']), select('t', 'thought_level', ['low', 'high'])];
    const agent = scriptAgent({ start: { configOptions } });
    expect(await agent.run({ model: 'LARGE', effort: 'high' })).toMatchObject({ kind: 'ok', model: 'LARGE' });
    expect(agent.noted('option')).toEqual([
      { id: 'm', value: 'large' },
      { id: 't', value: 'high' },
    ]);
    expect(warningsOf(agent)).toEqual([]);
  });

  test('the model by the option that the settings name, by the list of models, or by arguments', async () => {
    const named = scriptAgent(
      { start: { configOptions: [select('x', 'other', ['a', 'b'])] } },
      { modelConfigId: 'x', model: 'b' },
    );
    await named.run();
    expect(named.noted('option')).toEqual([{ id: 'x', value: 'b' }]);
    const listed = scriptAgent({
      start: { models: { currentModelId: 'a', availableModels: [{ modelId: 'a' }, { modelId: 'b' }] } },
    });
    await listed.run({ model: 'b' });
    expect(listed.noted('model')).toEqual(['b']);
    const byArgument = scriptAgent({}, { modelArgs: ['--model={model}'] });
    await byArgument.run({ model: '--yolo' });
    expect(byArgument.noted('start')).toMatchObject([{ argv: ['--model=--yolo'] }]);
  });

  test('a model that the agent does not have fails the call before anything is spent', async () => {
    const agent = scriptAgent({ start: { configOptions: [select('m', 'model', ['small', 'large'])] } });
    const outcome = await agent.run({ model: 'opus' });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, attempts: 1 });
    expect(messageOf(outcome)).toContain('has no model "opus"; it offers small, large');
    expect(agent.noted('prompt')).toEqual([]);
    expectNothingLeft(agent);
  });

  test('what cannot be set is said, and the call runs', async () => {
    const agent = scriptAgent({});
    expect(await agent.run({ model: 'opus', effort: 'high' })).toMatchObject({ kind: 'ok' });
    expect(warningsOf(agent)).toEqual([
      'scripted does not let its model be chosen; it answers with its own.',
      'scripted does not let its effort be set to high.',
    ]);
  });

  test('the mode of the permission, and a mode that is not there stops the run', async () => {
    const modes = {
      currentModeId: 'auto',
      availableModes: [
        { id: 'auto', name: 'Auto' },
        { id: 'ask', name: 'Ask' },
      ],
    };
    const agent = scriptAgent({ start: { modes } }, { modes: { edit: 'ask' } });
    await agent.run();
    expect(agent.noted('mode')).toEqual(['ask']);
    const wrong = scriptAgent({ start: { modes } }, { modes: { edit: 'careful' } });
    const outcome = await wrong.run();
    expect(outcome).toMatchObject({ kind: 'failed', shared: true, error: { code: 'WF_BACKEND_SETUP' } });
    expect(messageOf(outcome)).toContain('has no session mode "careful"; it offers auto, ask');
  });
});

describe('permission', () => {
  const answersOf = async (
    tool: object,
    request: Parameters<ScriptedAgent['run']>[0],
    options?: string[],
  ): Promise<unknown[]> => {
    const ask = { title: 'it', ...tool, ...(options && { options }) };
    const agent = scriptAgent({ steps: [[{ ask }, { say: 'x' }]] });
    expect(await agent.run(request)).toMatchObject({ kind: 'ok' });
    return agent.noted('permission');
  };

  test.each([
    ['read', 'read', 'allow_once'],
    ['read', 'edit', 'reject_once'],
    ['read', 'execute', 'reject_once'],
    ['edit', 'edit', 'allow_once'],
    ['edit', 'execute', 'reject_once'],
    ['edit', undefined, 'reject_once'],
    ['full', 'execute', 'allow_once'],
    ['full', undefined, 'allow_once'],
  ] as const)('%s: a tool of the kind %s is answered %s', async (permission, kind, answer) => {
    expect(await answersOf({ kind }, { permission })).toEqual([answer]);
  });

  test.each([
    ['only Read', { tools: ['Read'] }, 'edit', 'reject_once'],
    ['only Read, reading', { tools: ['Read', 'Grep'] }, 'search', 'allow_once'],
    ['no tools at all (B-127)', { tools: [] }, 'read', 'reject_once'],
    ['a pattern allows nothing', { tools: ['Bash(git log:*)'] }, 'execute', 'reject_once'],
    ['not Bash', { disallowedTools: ['Bash'] }, 'execute', 'reject_once'],
    ['a pattern forbids its kind', { disallowedTools: ['Bash(rm:*)'] }, 'execute', 'reject_once'],
    ['not Bash, but edits', { disallowedTools: ['Bash'] }, 'edit', 'allow_once'],
  ])('tools of the call: %s', async (_what, rules, kind, answer) => {
    expect(await answersOf({ kind }, { permission: 'full', ...rules })).toEqual([answer]);
  });

  test('a tool by its own name, also when only its first update told its kind', async () => {
    expect(await answersOf({ name: 'mcp__db__query' }, { permission: 'full', tools: ['mcp__db__query'] })).toEqual([
      'allow_once',
    ]);
    const first = { update: 'tool_call', fields: { toolCallId: 't1', title: 'cat x', kind: 'read' } };
    const agent = scriptAgent({ steps: [[first, { ask: { title: 'cat x' } }, { say: 'x' }]] });
    await agent.run({ permission: 'read' });
    expect(agent.noted('permission')).toEqual(['allow_once']);
  });

  test('"always" is chosen only where nothing is held back; without any option to refuse the turn is cancelled', async () => {
    expect(await answersOf({ kind: 'read' }, { permission: 'read' }, ['allow_always', 'reject_once'])).toEqual([
      'reject_once',
    ]);
    expect(await answersOf({ kind: 'read' }, { permission: 'full' }, ['allow_always'])).toEqual(['allow_always']);
    expect(await answersOf({ kind: 'edit' }, { permission: 'read' }, ['allow_once'])).toEqual(['cancelled']);
  });

  test('a refusal is told, and files or terminals of ours are not to be had', async () => {
    const request = { request: 'fs/read_text_file', params: { sessionId: 's1', path: '/etc/hostname' } };
    const agent = scriptAgent({ steps: [[{ ask: { kind: 'edit', title: 'Write x' } }, request, { say: 'x' }]] });
    await agent.run({ permission: 'read' });
    expect(progressOf(agent)).toContain('not allowed: Write x');
    expect(agent.noted('answer')).toEqual([{ code: -32_601 }]);
  });
});
