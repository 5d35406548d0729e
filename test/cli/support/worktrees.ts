/** Repositories for tests of isolated calls. The agent is a shell: what a prompt says is done in the call's folder. */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import type { DoctorFinding, DoctorReport } from '../../../src/index.js';
import { runWf } from '../../support/run-wf.js';
import { makeProject, type ProjectOptions, type TestProject } from '../../support/temp-project.js';
import type { EndedRun } from './runs.js';

/** Flags of `wf run`: the prompt is a shell script. */
export const SHELL = ['--backend', 'command', '--command', 'sh'];

export interface Kept {
  n: number;
  label: string;
  path: string;
  branch: string;
  base: string;
  files: string[];
  fileCount: number;
  commits: number;
  doubt?: string;
  from?: string;
}

/** A project that is a repository, whose agents can commit. */
export function makeRepository(files: Record<string, string>, options: ProjectOptions = {}): TestProject {
  const project = makeProject({ ...options, files: { '.keep': '', ...files }, git: true });
  // In the repository itself: agents get no variables of git.
  project.git('config', 'user.name', 'Test');
  project.git('config', 'user.email', 'test@example.invalid');
  return project;
}

/** A script that asks all prompts at once, each in a worktree of its own, and returns the answers in order. */
export function isolatedFan(prompts: Record<string, string>, options: object = {}): string {
  const calls = Object.entries(prompts).map(
    ([label, prompt]) =>
      `() => agent(${JSON.stringify(prompt)}, ${JSON.stringify({ label, isolation: 'worktree', ...options })})`,
  );
  return `export const meta = { name: 'fan', description: 'Isolated calls' }\nreturn await parallel([${calls.join(', ')}])\n`;
}

/** Folders of the linked worktrees that git knows. */
export const treesOf = (project: TestProject, cwd = project.dir): string[] =>
  execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd, env: project.env, encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.startsWith('worktree '))
    .map((line) => line.slice('worktree '.length))
    .slice(1);

/** Our branches, sorted by name as texts. */
export const branchesOf = (project: TestProject): string[] =>
  project
    .git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/wf/')
    .split('\n')
    .filter((name) => name !== '')
    .sort();

export const keptIn = ({ state }: EndedRun): Kept[] => (state.worktrees as Kept[] | undefined) ?? [];

/** What lies in the folder of our worktrees, sorted. */
export const foldersOf = (project: TestProject): string[] =>
  readdirSync(project.path('.claude', 'worktrees'))
    .filter((name) => name !== '.gitignore')
    .sort();

/** What `wf doctor` finds of worktrees, without what is as it should be. */
export async function doctorTrees(project: TestProject, ...flags: string[]): Promise<DoctorFinding[]> {
  const { stdout } = await runWf(['doctor', '--json', ...flags], { project, timeoutMs: 120_000 });
  return (JSON.parse(stdout) as DoctorReport).findings.filter(
    ({ check, status }) => check === 'worktrees' && status !== 'ok',
  );
}
