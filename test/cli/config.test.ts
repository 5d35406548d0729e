/** The config, the variables and the flags: who wins, and what a fault is told as. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWf, type WfResult } from '../support/run-wf.js';
import { makeProject, type ProjectOptions, type TestProject } from '../support/temp-project.js';
import { newestRun, readState, workflow } from './cli-kit.js';

const FLOW = workflow('return await agent("do it")');

const makeWith = (files: Record<string, string | object>, options: ProjectOptions = {}): TestProject => {
  const project = makeProject(options);
  project.write('flow.js', FLOW);
  for (const [file, content] of Object.entries(files))
    project.write(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return project;
};
const writeUserConfig = (project: TestProject, config: object, folder = join(project.home, '.config')): void => {
  mkdirSync(join(folder, 'wf'), { recursive: true });
  writeFileSync(join(folder, 'wf', 'config.json'), JSON.stringify(config));
};
const wf = (project: TestProject, args: string[], env: Record<string, string> = {}, cwd = project.dir) =>
  runWf(['run', 'flow.js', ...args], { project, env, cwd });
const readRecord = (project: TestProject) =>
  JSON.parse(readFileSync(join(project.runDir(newestRun(project)), 'run.json'), 'utf8'));
const expectRefusal = (project: TestProject, result: WfResult, words: RegExp): void => {
  expect(result).toMatchObject({ code: 2, stdout: '' });
  expect(result.stderr).toMatch(words);
  expect(project.runIds()).toEqual([]);
};

describe('precedence', () => {
  it('is flag, then environment, then the closest config, then the user’s, then the default; the record says which', async () => {
    const project = makeWith(
      {
        '.claude/wf.json': { backend: 'mock', concurrency: 3, retries: 3, timeout: '3m', memory: 64 },
        'sub/.claude/wf.json': { concurrency: 2, timeout: 120 },
        'sub/flow.js': FLOW,
      },
      { git: true },
    );
    writeUserConfig(project, { effort: 'high', retries: 9, permission: 'read' });
    const env = { WF_TIMEOUT: '4m', WF_MODEL: 'large', WF_PERMISSION: '' };
    expect(await wf(project, ['--model', 'small'], env, project.path('sub'))).toMatchObject({ code: 0 });
    const { options, settingSources } = readRecord(project);
    expect(options).toMatchObject({
      backend: 'mock',
      model: 'small',
      timeoutMs: 240_000,
      concurrency: 2,
      retries: 3,
      memoryMb: 64,
      effort: 'high',
      permission: 'read',
      idleTimeoutMs: null,
    });
    expect(settingSources).toMatchObject({
      backend: { from: 'config', place: '.claude/wf.json' },
      model: { from: 'given', place: '--model' },
      timeoutMs: { from: 'environment', place: 'WF_TIMEOUT' },
      concurrency: { from: 'config', place: 'sub/.claude/wf.json' },
      effort: { from: 'config', place: '~/.config/wf/config.json' },
      idleTimeoutMs: { from: 'default' },
    });
  });

  it('R13 on a resume the old run’s record wins over environment and config, also where it had none', async () => {
    const project = makeWith({ '.claude/wf.json': { backend: 'mock', concurrency: 3 } });
    await wf(project, []);
    const first = readRecord(project);
    project.write(
      '.claude/wf.json',
      JSON.stringify({ backend: 'command', concurrency: 5, model: 'large', timeout: 9 }),
    );
    const resume = ['run', '--resume-from', newestRun(project), '--retries', '7'];
    expect(await runWf(resume, { project, env: { WF_EFFORT: 'max' } })).toMatchObject({ code: 0 });
    const { options, settingSources } = readRecord(project);
    expect(options).toEqual({ ...first.options, retries: 7 });
    expect(settingSources).toMatchObject({ concurrency: { from: 'record' }, retries: { from: 'given' } });
  });

  it('XDG_CONFIG_HOME moves the user’s file; a relative one is ignored', async () => {
    const project = makeWith({});
    writeUserConfig(project, { backend: 'mock', retries: 1 });
    writeUserConfig(project, { backend: 'mock', retries: 2 }, join(project.root, 'xdg'));
    await wf(project, [], { XDG_CONFIG_HOME: join(project.root, 'xdg') });
    expect(readRecord(project).options.retries).toBe(2);
    await wf(project, [], { XDG_CONFIG_HOME: 'xdg' });
    expect(readRecord(project).options.retries).toBe(1);
  });

  it('B-144: a resume reads the config beside the start folder of the run, wherever it is typed', async () => {
    const project = makeWith({ 'sub/flow.js': FLOW, 'other/.keep': '', '.claude/keep': '' }, { git: true });
    const tool = project.write('sub/tool.sh', '#!/bin/sh\ncat\n');
    chmodSync(tool, 0o755);
    project.write(
      'sub/.claude/wf.json',
      JSON.stringify({ backend: 'mytool', backends: { command: { mytool: { argv: ['./tool.sh'] } } } }),
    );
    await wf(project, [], {}, project.path('sub'));
    const resume = ['run', '--resume-from', newestRun(project), '--args-text', 'x'];
    expect(await runWf(resume, { project, cwd: project.path('other') })).toMatchObject({ code: 0, stdout: 'do it\n' });
  });
});

describe('a backend that the config has set up', () => {
  const TOOL = '#!/bin/sh\nprintf "%s by %s%s" "$(cat)" "$1" "$TOOL_TOKEN"\n';
  const makeTools = (flow: string): TestProject => {
    const project = makeWith({
      'flow.js': flow,
      'tool.sh': TOOL,
      '.claude/wf.json': {
        backends: {
          command: {
            mytool: { argv: ['./tool.sh', 'one'], env: ['TOOL_TOKEN'] },
            other: { argv: ['./tool.sh', 'two'] },
          },
        },
      },
    });
    chmodSync(project.path('tool.sh'), 0o755);
    return project;
  };

  it('is chosen by its own name, for the run and for a call, and sees the variables that it names', async () => {
    const project = makeTools(workflow('return [await agent("a"), await agent("b", { backend: "other" })].join(", ")'));
    const env = { TOOL_TOKEN: '!' };
    expect((await wf(project, [], { ...env, WF_BACKEND: 'mytool' })).stdout).toBe('a by one!, b by two\n');
    expect(readRecord(project).options.backend).toBe('mytool');
    // A backend that was chosen by flag beats the one that a call names.
    expect((await wf(project, ['--backend', 'mytool'], env)).stdout).toBe('a by one!, b by one!\n');
  });

  it('settings that have changed are said on a resume, which reuses answers all the same; the record holds only digests', async () => {
    const project = makeProject({ files: { 'flow.js': workflow("return await agent('x')") } });
    const set = (backends: object): string => project.write('.claude/wf.json', JSON.stringify({ backends }));
    const named = (argv: string[]): object => ({ tool: { argv: ['sh', '-c', 'echo secret-word', ...argv] } });
    set({ command: { ...named([]), old: { argv: ['cat'] } }, claude: { model: 'haiku' } });
    await runWf(['run', 'flow.js', '--backend', 'tool'], { project });
    const first = newestRun(project);
    expect(project.read(`.claude/workflow-runs/${first}/run.json`)).not.toMatch(/secret-word|haiku/);
    const same = await runWf(['run', '--resume-from', first], { project });
    expect(same.stderr).not.toContain('the backend');
    set({ command: named(['more']), acp: { fresh: { command: 'x' } }, claude: { model: 'haiku' } });
    const changed = await runWf(['run', '--resume-from', first], { project });
    expect(changed).toMatchObject({ code: 0, stdout: 'secret-word\n' });
    expect(changed.stderr).toContain('The settings of the backend tool differ from those of the source run. Reused');
    expect(changed.stderr).toContain('no longer sets up the backend old');
    expect(changed.stderr).toContain('now sets up the backend fresh');
    expect(changed.stderr).not.toContain('backend claude');
    expect(readState(project)).toMatchObject({ counts: { reused: 1, executed: 0 } });
  });

  it('an unknown name is refused with the nearest, before anything starts', async () => {
    const project = makeTools(FLOW);
    expectRefusal(
      project,
      await wf(project, ['--backend', 'mytol']),
      /WF_BACKEND_UNKNOWN[\s\S]*Did you mean mytool\?[\s\S]*command, mytool, other/,
    );
  });
});

describe('a faulty config is refused before anything starts', () => {
  it.each([
    [
      'an Unknown key',
      '{\n  "concurency": 3\n}',
      /WF_CONFIG \.claude\/wf\.json:2:3: Unknown key concurency\. Did you mean concurrency\?/,
    ],
    [
      'an Unknown key of a backend',
      '{ "backends": {\n "command": { "x": { "argv": ["a"], "environ": [] } } } }',
      /wf\.json:2:37: Unknown key backends\.command\.x\.environ/,
    ],
    [
      'a value of the wrong kind',
      '{ "retries": "many" }',
      /wf\.json:1:3: retries takes a whole number from 0 to 1000; got "many"/,
    ],
    [
      'a time that is none',
      '{ "timeout": "soon" }',
      /timeout takes a time such as "90s", "10m" or "2h", or a number of seconds, or "none"; got "soon"/,
    ],
    ['B-122 memory without a number', '{ "memory": "abc" }', /memory takes megabytes such as 256 or "1GB"; got "abc"/],
    ['B-122 memory below zero', '{ "memory": -1 }', /memory takes megabytes/],
    ['B-122 too little memory', '{ "memory": 1 }', /memory must be a whole number from 8 to 65536; got 1/],
    [
      'a program that is none',
      '{ "backends": { "command": { "x": { "argv": [] } } } }',
      /backends\.command\.x\.argv names no program/,
    ],
    [
      'a name that means two things',
      '{ "backends": { "command": { "mock": { "argv": ["a"] } } } }',
      /mock is also the name of a kind of backends/,
    ],
    ['a list instead of an object', '[]', /the config takes one object; got a list/],
    ['no JSON', '{ "retries": 3,\n }', /wf\.json:2:2: The config is no JSON/],
    ['an empty file', '', /is no JSON: it is empty/],
    [
      'comments',
      '{\n  // three\n  "retries": 3\n}',
      /wf\.json:2:3: The config is no JSON[\s\S]*Comments are not allowed/,
    ],
    ['__proto__', '{ "__proto__": { "retries": 3 } }', /Unknown key __proto__/],
  ])('%s', async (_what, text, words) => {
    const project = makeWith({ '.claude/wf.json': text });
    expectRefusal(project, await wf(project, ['--backend', 'mock']), words);
  });

  it('names every fault of a file', async () => {
    const project = makeWith({ '.claude/wf.json': '{ "retris": 1,\n "budget": "x" }' });
    const { stderr } = await wf(project, ['--backend', 'mock']);
    expect(stderr).toMatch(/Unknown key retris[\s\S]*budget takes/);
  });

  it('never shows a text that may be a secret', async () => {
    const secret = 'live-0123456789abcdef';
    const texts = [
      { secrets: [secret] },
      { backends: { command: { x: { argv: ['a'], env: [secret] } } } },
      { apiKey: secret },
    ];
    for (const config of [...texts, { budget: secret }]) {
      const project = makeWith({ '.claude/wf.json': config });
      const result = await wf(project, ['--backend', 'mock']);
      expect(result.code).toBe(2);
      expect(result.stderr + result.stdout).not.toContain(secret);
    }
    const project = makeWith({ '.claude/wf.json': `{ "secrets": ["${secret}" }` });
    expect((await wf(project, ['--backend', 'mock'])).stderr).not.toContain('0123456789');
  });

  it('the user’s file is named as such, and one that cannot be read is a fault too', async () => {
    const project = makeWith({ '.claude/wf.json/x': '' });
    expectRefusal(project, await wf(project, ['--backend', 'mock']), /The config \.claude\/wf\.json cannot be read/);
    const other = makeWith({});
    writeUserConfig(other, { colour: 'red' });
    expectRefusal(
      other,
      await wf(other, ['--backend', 'mock']),
      /~\/\.config\/wf\/config\.json:1:2: Unknown key colour/,
    );
  });

  it.each([
    ['WF_CONCURRENCY', 'many', /WF_CONCURRENCY takes a whole number; got "many"/],
    ['WF_CONCURRENCY', '0', /WF_CONCURRENCY must be a whole number from 1 to 100000; got 0/],
    ['WF_TIMEOUT', 'soon', /WF_TIMEOUT takes a time/],
    ['WF_BUDGET', 'much', /WF_BUDGET takes a number of tokens/],
    ['WF_PERMISSION', 'root', /WF_PERMISSION takes one of read, edit, full/],
    ['WF_EFFORT', 'most', /WF_EFFORT takes one of low/],
  ])('%s=%s', async (name, value, words) => {
    const project = makeWith({});
    expectRefusal(project, await wf(project, ['--backend', 'mock'], { [name]: value }), words);
  });
});

it('a byte order mark, $schema and an empty object are no faults', async () => {
  const project = makeWith({ '.claude/wf.json': '\u{feff}{ "$schema": "./wf.schema.json" }' });
  writeUserConfig(project, {});
  expect(await wf(project, ['--backend', 'mock'])).toMatchObject({ code: 0 });
});

it('reading commands do not need a sound config', async () => {
  const project = makeWith({});
  await wf(project, ['--backend', 'mock']);
  project.write('.claude/wf.json', '{');
  expect(await runWf(['ls'], { project })).toMatchObject({ code: 0 });
  expect(await runWf(['show', newestRun(project)], { project })).toMatchObject({ code: 0 });
});
