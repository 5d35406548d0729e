/** The file tools that the AI SDK backend gives a model. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AiSdkSettings } from '../../src/agents/ai-sdk/ai-sdk-settings.js';
import { makeProject } from '../support/temp-project.js';
import { type Changes, callWith } from './support/ai-sdk-calls.js';
import { replyChat, replyToolCall } from './support/scripted-server.js';

describe('ai-sdk: file tools', () => {
  const place = () => {
    const project = makeProject({
      files: {
        'src/a.txt': 'one\ntwo needle\nthree\n',
        'b.txt': 'b',
        '.git/config': 'needle',
        'node_modules/x/y': 'needle',
      },
    });
    writeFileSync(join(project.root, 'outside.txt'), 'secret needle');
    symlinkSync(join(project.root, 'outside.txt'), project.path('link.txt'));
    mkdirSync(project.path('empty'));
    writeFileSync(project.path('binary'), Buffer.from([0, 1, 2]));
    return project;
  };
  const use = async (name: string, input: unknown, request: Changes['request'] = {}) => {
    const replies = [replyToolCall(name, input, { in: 1, out: 1 }), replyChat('done', { in: 10, out: 2 })];
    const { outcome, requests, context } = await callWith(replies, { request: { cwd: place().dir, ...request } });
    return { outcome, requests, context, told: String(requests[1]?.body.messages.at(-1).content) };
  };

  test('list, read from a line on, search', async () => {
    const list = await use('list_files', {});
    expect(list.told).toBe('b.txt\nbinary\nsrc/a.txt');
    expect(list.outcome).toMatchObject({ kind: 'ok', output: '"done"', usage: { inputTokens: 11, outputTokens: 3 } });
    expect(list.context.events.filter(({ type }) => type === 'tool')).toEqual([
      { type: 'tool', name: 'list_files', state: 'start' },
      { type: 'tool', name: 'list_files', state: 'end' },
    ]);
    expect((await use('read_file', { path: 'src/a.txt', fromLine: 2 })).told).toBe('two needle\nthree\n');
    expect((await use('search_files', { text: 'needle' })).told).toBe('src/a.txt:2: two needle');
  });

  test.each([
    ['../outside.txt', 'lies outside'],
    ['/etc/hostname', 'lies outside'],
    ['link.txt', 'lies outside'],
    ['src', 'is no file'],
    ['nothing', 'There is no nothing'],
    ['binary', 'no text file'],
  ])('reading %s is refused, and the model is told why', async (path, words) => {
    const { outcome, told } = await use('read_file', { path });
    expect(told).toContain(words);
    expect(told).not.toContain('secret');
    expect(outcome).toMatchObject({ kind: 'ok', output: '"done"' });
  });

  test.each<[what: string, request: Changes['request'], settings: AiSdkSettings, names: string[] | undefined]>([
    ['all', {}, {}, ['list_files', 'read_file', 'search_files']],
    ['those of the call', { tools: ['Read', 'Bash'] }, {}, ['read_file']],
    ['all but the forbidden', { disallowedTools: ['Grep', 'search_files', 'Glob'] }, {}, ['read_file']],
    ['those of the definition', { agent: { prompt: 'x', tools: ['Grep'] } as never }, {}, ['search_files']],
    ['none, as none is named', { tools: ['Bash(git log:*)'] }, {}, undefined],
    ['none by the settings', {}, { tools: 'none' }, undefined],
  ])('the model gets %s', async (_what, request, settings, names) => {
    const { requests } = await callWith([replyChat('x')], { request: { ...request }, settings });
    const tools = requests[0]?.body.tools as { function: { name: string } }[] | undefined;
    expect(tools?.map((tool) => tool.function.name)).toEqual(names);
  });

  test('a model that never stops using tools is stopped', async () => {
    const { outcome, requests } = await callWith([replyToolCall('list_files', {}, { in: 1, out: 1 })], {
      request: { cwd: place().dir },
      settings: { maxSteps: 3 },
    });
    expect(requests).toHaveLength(3);
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'WF_AGENT_FAILED' }, usage: { outputTokens: 3 } });
  });
});
