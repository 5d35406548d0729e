/** Secrets: masked once where a backend hands over, and refused where they would be written down as they are. */
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const TOKEN = 'live-0123"456789\\abcdef';
const PEM = '-----FIRST LINE OF A KEY-----\nc2Vjb25kIGxpbmU\n-----LAST LINE OF A KEY-----\n';
const ENV = {
  TOOL_TOKEN: TOKEN,
  TOOL_PEM: PEM,
  OPENAI_API_KEY: 'key-of-a-service-0001',
  TOOL_PLACE: 'a-place-for-tools',
};

/** Prints its secrets everywhere that a program can: answer, progress, error, model of a session. */
const LEAK = `#!/usr/bin/env node
const ask = require('node:fs').readFileSync(0, 'utf8')
const { TOOL_TOKEN: token, TOOL_PEM: pem, OPENAI_API_KEY: key, TOOL_PLACE: place } = process.env
console.error('progress ' + token)
console.error(JSON.stringify({ wf: 'progress', text: 'told ' + pem + key }))
if (ask === 'fail') { console.error('no entry for ' + token); process.exit(1) }
if (ask === 'stop') { console.error(JSON.stringify({ wf: 'error', kind: 'usage_limit', message: 'over for ' + key, resetsAt: token })); process.exit(1) }
if (process.env.WF_CALL_SCHEMA) {
  const hidden = [...token].map((c) => '\\\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')).join('')
  process.stdout.write('{ "text": "' + (ask === 'hide' ? hidden : JSON.stringify(token).slice(1, -1)) + '" }')
} else process.stdout.write([token, pem, key, place].join(' '))
`;
const CONFIG = {
  backend: 'leak',
  secrets: ['TOOL_TOKEN', 'TOOL_PEM', 'NOT_SET'],
  backends: {
    command: { leak: { argv: ['./leak.cjs'], env: ['TOOL_TOKEN', 'TOOL_PEM', 'OPENAI_API_KEY', 'TOOL_PLACE'] } },
  },
};

function makeLeaky(flow: string, config: object = CONFIG): TestProject {
  const project = makeProject({
    files: { 'flow.js': flow, 'leak.cjs': LEAK, '.claude/wf.json': JSON.stringify(config) },
  });
  chmodSync(project.path('leak.cjs'), 0o755);
  return project;
}

/** All that was written of a run. */
function readAll(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('\n');
}

const PARTS = [TOKEN, JSON.stringify(TOKEN).slice(1, -1), ...PEM.trim().split('\n'), ENV.OPENAI_API_KEY];
const expectClean = (text: string): void => {
  for (const part of PARTS) expect(text).not.toContain(part);
};

describe('a backend that prints its secrets', () => {
  const FLOW = workflow(`const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const seen = [await agent('plain'), (await agent('json', { schema })).text, (await agent('hide', { schema })).text]
const { cause } = await agent.settled('fail')
log(seen[1])
return { seen, cause: cause.message }`);

  it('leaves none of them in journal, events, state, report or output, and the script sees the mask', async () => {
    const project = makeLeaky(FLOW);
    const run = await runWf(
      ['run', 'flow.js', '--reporter', 'plain', '--reporter', 'jsonl=events.out', '--allow-failures'],
      { project, env: ENV },
    );
    expect(run.code).toBe(0);
    const mask = '[secret:TOOL_TOKEN]';
    // What is no secret by its name stays.
    const plain = `${mask} [secret:TOOL_PEM]\n [secret:OPENAI_API_KEY] ${ENV.TOOL_PLACE}`;
    expect(JSON.parse(run.stdout)).toEqual({
      seen: [plain, mask, mask],
      cause: expect.stringContaining(`no entry for ${mask}`),
    });
    for (const text of [
      readAll(project.runDir(newestRun(project))),
      run.stdout,
      run.stderr,
      project.read('events.out'),
    ])
      expectClean(text);
    expect(project.read('events.out')).toContain(`told [secret:TOOL_PEM]`);

    // Replay is equal, also where the variables hold nothing any more.
    const again = await runWf(['run', '--resume-from', newestRun(project), '-q', '--allow-failures'], {
      project,
      env: ENV,
    });
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(run.stdout));
    expect(readState(project)).toMatchObject({ counts: { reused: 3, executed: 1 } });
    const show = await runWf(['show', newestRun(project), '--json'], { project });
    expectClean(show.stdout);
  });

  it('leaves none of them in a failure that stops the run', async () => {
    const project = makeLeaky(workflow("return await agent('stop')"));
    const run = await runWf(['run', 'flow.js'], { project, env: ENV });
    expect(run.code).toBe(6);
    expect(run.stderr).toContain('over for [secret:OPENAI_API_KEY]');
    expectClean(run.stderr + run.stdout + readAll(project.runDir(newestRun(project))));
  });
});

describe('a secret that would be written down as it is', () => {
  it.each([
    ['in args', ['--arg', `token=Bearer ${TOKEN}`], /WF_ARGS[\s\S]*value of TOOL_TOKEN/],
    [
      'deep in args',
      ['--args', JSON.stringify({ a: [{ [ENV.OPENAI_API_KEY]: 1 }] })],
      /WF_ARGS[\s\S]*value of OPENAI_API_KEY/,
    ],
    ['in a command line', ['--command', `curl -H ${ENV.OPENAI_API_KEY}`], /WF_USAGE[\s\S]*value of OPENAI_API_KEY/],
  ])('is refused %s', async (_where, flags, words) => {
    const project = makeLeaky(workflow('return 1'));
    const run = await runWf(['run', 'flow.js', ...flags], { project, env: ENV });
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.stderr).toMatch(words);
    expectClean(run.stderr);
    expect(project.runIds()).toEqual([]);
  });

  it('is none where it is shorter than 12 characters', async () => {
    const project = makeLeaky(workflow('return args.word'));
    const run = await runWf(['run', 'flow.js', '--arg', 'word=short'], { project, env: { TOOL_TOKEN: 'short' } });
    expect(run).toMatchObject({ code: 0, stdout: 'short\n' });
  });
});

it('keys that agents are handed unasked, or by apiKeyEnv, are masked; other values and what nobody is handed are not', async () => {
  const handed = {
    ANTHROPIC_FOUNDRY_API_KEY: 'value-of-foundry-key',
    ANTHROPIC_CUSTOM_HEADERS: 'X-Team: all-of-the-team\nAuthorization: Bearer value-of-gateway',
    AWS_SECRET_ACCESS_KEY: 'value-of-aws-secret',
    AWS_SESSION_TOKEN: 'value-of-aws-session',
    AWS_BEARER_TOKEN_BEDROCK: 'value-of-aws-bearer',
    CORP_SIGN_IN: 'value-of-codex-provider',
    MODEL_SIGN_IN: 'value-of-ai-sdk-provider',
  };
  const open = {
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/value',
    AWS_PROFILE: 'value-of-aws-profile',
    OTHER_API_KEY: 'value-for-nobody-here',
  };
  const said = [...Object.values({ ...handed, ...open }), 'all-of-the-team', 'value-of-gateway'].join(' | ');
  const project = makeLeaky(workflow("return await agent('x')"), {
    backend: 'leak',
    backends: {
      command: { leak: { argv: ['node', '-p', JSON.stringify(said)] } },
      codex: { apiKeyEnv: 'CORP_SIGN_IN' },
      'ai-sdk': { apiKeyEnv: 'MODEL_SIGN_IN' },
    },
  });
  const run = await runWf(['run', 'flow.js'], { project, env: { CLAUDE_CODE_USE_BEDROCK: '1', ...handed, ...open } });
  const headers = '[secret:ANTHROPIC_CUSTOM_HEADERS]';
  const masks = Object.keys(handed).map((name) => `[secret:${name}]`);
  masks[1] = `${headers}\n${headers}`;
  expect(run.stdout.trim().split(' | ')).toEqual([...masks, ...Object.values(open), 'all-of-the-team', headers]);
});
