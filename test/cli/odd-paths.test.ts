/** Names of files and folders may hold anything: what is told of them stays on its line and is what a shell takes. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWf, type WfResult } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { idOf } from './support/runs.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
/** A line end, a colour, a title for the terminal, another direction of writing, and what a shell has a meaning for. */
const ODD = "a\nb\u001b[31mc\u001b]0;t\u0007\u202ed'$(e)\\f ü";
const SCRIPT = 'fl\now\u001b[2J.js';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
const FORBIDDEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;

/** A project in a folder with such a name. */
function makeOddProject(body: string): {
  project: TestProject;
  cwd: string;
  wf: (...args: string[]) => Promise<WfResult>;
} {
  const project = makeProject();
  const cwd = project.path(ODD);
  mkdirSync(join(cwd, '.claude'), { recursive: true });
  writeFileSync(join(cwd, SCRIPT), workflow(body));
  return {
    project,
    cwd,
    async wf(...args) {
      const ended = await runWf(args, { project, cwd });
      for (const text of [ended.stdout, ended.stderr]) expect(text).not.toMatch(FORBIDDEN);
      return ended;
    },
  };
}

/** Words as bash reads them; undefined where there is none. */
function readByBash(text: string): string[] | undefined {
  const { status, stdout, error } = spawnSync('bash', ['-c', `printf '%s\\0' ${text}`], { encoding: 'utf8' });
  if (error !== undefined) return undefined;
  expect(status).toBe(0);
  return stdout.split('\0').slice(0, -1);
}

it('folder, outcome and the command that goes on stand on one line each, and a shell reads them back', async (context) => {
  const { project, cwd, wf } = makeOddProject("await agent('do A', { label: 'A' })\nthrow new Error('x')");
  const odd = ['--runs-dir', 'ru\nns'];
  const ended = await wf('run', SCRIPT, '--backend', 'mock', ...odd);
  const id = idOf(ended.stderr);
  const folder = join(cwd, 'ru\nns', id);
  const lines = ended.stderr.trimEnd().split('\n');
  for (const line of lines) expect(line).toMatch(/^(?:\d\d:\d\d:\d\d |Run | {2})/);
  const told = / folder (\$'.*')$/.exec(lines[0] as string)?.[1] as string;
  const outcome = /^ {2}result .* is in (.*)$/m.exec(ended.stderr)?.[1] as string;
  const goOn = /^ {2}go on {4}(.*)$/m.exec(ended.stderr)?.[1] as string;
  const shown = await wf('show', id, ...odd);
  expect(shown.stdout).toContain(`\nfolder     ${told}\n`);
  expect(shown.stdout).toContain(`\nTo go on: ${goOn}\n`);
  expect((await wf('ls', ...odd)).stdout.trimEnd().split('\n')).toHaveLength(2);
  expect((await wf('logs', id, ...odd)).stdout).toContain(`, folder ${told}\n`);

  if (readByBash('') === undefined) return context.skip('There is no bash here that could read the command back.');
  expect(readByBash(`${told} ${outcome}`)).toEqual([folder, join(folder, 'state.json')]);
  expect(readByBash(goOn)).toEqual(['wf', 'run', SCRIPT, '--resume-from', id, ...odd]);
  writeFileSync(join(cwd, SCRIPT), workflow("return await agent('do A', { label: 'A' })"));
  const command = `wf() { "$NODE" "$MAIN" "$@"; }; ${goOn}`;
  const resumed = spawnSync('bash', ['-c', command], {
    cwd,
    env: { ...project.env, NODE: process.execPath, MAIN },
    encoding: 'utf8',
  });
  expect([resumed.status, resumed.stderr]).toEqual([0, expect.stringContaining('A: ok, reused from run')]);
  expect(readdirSync(join(cwd, 'ru\nns')).filter((name) => name.length === 36)).toHaveLength(2);
});

it('refusals, findings, notices, answers and old records stay on their lines too', async () => {
  const label = "'A\\x1b[31m\\nB'";
  const { cwd, wf } = makeOddProject(`const a = await agent('do A', { label: ${label} })
if (args) await agent('x', { label: ${label}, isolation: true })
return a.length`);
  const bad = 'bad\n\u001b[31m.js';
  writeFileSync(join(cwd, bad), 'const a = \n');
  const shown = "$'bad\\n\\033[31m.js'";
  expect((await wf('check', bad)).stdout).toMatch(/^\$'bad\\n\\033\[31m\.js':2:1: error WF_SCRIPT_SYNTAX: /);
  expect((await wf('run', bad)).stderr.split('\n')[0]).toMatch(/^wf: WF_SCRIPT_SYNTAX \$'bad\\n\S+'?:2:1: .*\.$/);
  const gone = (await wf('run', 'nowhere\n\u001b[31m.js')).stderr.trimEnd().split('\n');
  expect(gone).toEqual([
    expect.stringMatching(
      /^wf: WF_SCRIPT_NOT_FOUND \$'.*nowhere\\n\\033\[31m\.js': Cannot read the script \$'.*': there is/,
    ),
    expect.stringMatching(/^ {2}→ /),
  ]);
  expect((await wf('test', bad)).stderr).toContain(shown);
  for (const words of [['run', '--nowhere\n\u001b[31m'], ['nowhere\n\u001b[31m']])
    expect((await wf(...words)).stderr.split('\n')[0]).toMatch(/^wf: WF_USAGE: .*nowhere\\n\\033\[31m/);
  expect((await wf('test', SCRIPT)).stderr.split('\n')[0]).toMatch(
    /nor \$'\S+\.test\.yaml' stands beside \$'\S+\.js'\.$/,
  );

  const ended = await wf('run', SCRIPT, '--backend', 'mock');
  const id = idOf(ended.stderr);
  // What is told of it at the end, the answer of a call, and a notice of the plan.
  const call = await wf('show', id, '#1');
  expect(call.stdout).toContain('\n  Made-up answer to A\\x1b[31m\n  B (');
  const plan = await wf('plan', '--resume-from', id, '--arg', 'x=1');
  expect(plan.stderr).toMatch(/^wf: #2 A\\x1b\[31m\\nB is refused: WF_AGENT_OPTIONS: /m);
  expect(plan.stderr.trimEnd().split('\n')).toSatisfy((lines: string[]) =>
    lines.every((line) => /^wf: |^ {2}→ /.test(line)),
  );
  await wf('prune', '--keep', '0');
  await wf('doctor');
});
