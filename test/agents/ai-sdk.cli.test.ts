/** From the command line to a model's server and back, with the packages of the user's project. */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { type Reply, replyChat, replyToolCall, startScriptedServer } from './support/scripted-server.js';

const FILES: Record<string, string> = {
  'code/a.ts': 'export const a = 1\n',
  'code/deep/b.ts': 'const b = 2\nuse(b)\n',
};

/** A model that does the tasks of the workflow `survey` with the tools that it is given. */
const surveyor: Reply = (response, request) => {
  const { messages } = request.body as { messages: { role: string; content: string }[] };
  const prompt = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const seen = messages.at(-1)?.role === 'tool' ? messages.at(-1)?.content : undefined;
  const path = /^(?:Folder|File): (.*)$/m.exec(prompt)?.[1];
  if (seen === undefined) {
    return replyToolCall(prompt.includes('Task: list') ? 'list_files' : 'read_file', { path })(response, request);
  }
  const answer = prompt.includes('Task: list')
    ? { files: seen.split('\n') }
    : prompt.includes('Task: count')
      ? { lines: seen.split('\n').length - 1, words: seen.split(/\s+/).filter(Boolean).length }
      : { exports: [...seen.matchAll(/export const (\w+)/g)].map(([, name]) => name) };
  replyChat(JSON.stringify(answer), { in: 100, out: 10 })(response, request);
};

test('wf run survey --backend ai-sdk: a local server, named by the environment, answers all calls once', async () => {
  const { url, requests } = await startScriptedServer([surveyor]);
  const project = makeProject({ files: FILES });
  mkdirSync(project.path('.claude/workflows'), { recursive: true });
  copyFileSync(
    join(import.meta.dirname, '../../.claude/workflows/survey.js'),
    project.path('.claude/workflows/survey.js'),
  );
  symlinkSync(join(import.meta.dirname, 'node_modules'), project.path('node_modules'));
  const env = { WF_AI_SDK_BASE_URL: url, WF_MODEL: 'qwen3' };
  const args = ['--arg', 'folder=code', '--backend', 'ai-sdk'];
  const { code, stdout, stderr } = await runWf(['run', 'survey', ...args], { project, env });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'surveyed', files: 2, lines: 3, words: 10, exports: 1 });
  expect(stderr).toContain('tool list_files');
  expect(requests.every(({ body }) => body.model === 'qwen3')).toBe(true);
  const asked = requests.length;
  expect(asked).toBe(10);

  const [runId] = project.runIds() as [string];
  const state = JSON.parse(project.read(`.claude/workflow-runs/${runId}/state.json`));
  expect(state.usage).toMatchObject({ inputTokens: 500, outputTokens: 50 });
  const again = await runWf(['run', '--resume-from', runId], { project, env });
  expect([again.code, again.stdout]).toEqual([0, stdout]);
  expect(requests).toHaveLength(asked);
});

test('without the packages the run stops before it asks anybody, and says what to install', async () => {
  const project = makeProject({
    files: { 'flow.js': `export const meta = { name: 'f', description: 'd' }\nreturn await agent('x')\n` },
  });
  const env = { WF_AI_SDK_BASE_URL: 'http://127.0.0.1:1', WF_MODEL: 'm' };
  const { code, stderr } = await runWf(['run', 'flow.js', '--backend', 'ai-sdk'], { project, env });
  expect(code, stderr).toBe(6);
  expect(stderr).toContain('WF_BACKEND_MISSING');
  expect(stderr).toContain('npm i ai@7 @ai-sdk/openai-compatible@3');
});
