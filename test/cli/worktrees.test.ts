/** Calls with isolation `worktree`: real repositories, and an agent that is a shell which does what its prompt says. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startWf, runWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';
import { needTool } from './support/need-tool.js';
import { madeIn, run } from './support/runs.js';
import { branchesOf, isolatedFan, makeRepository, SHELL, type Kept, keptIn, treesOf } from './support/worktrees.js';

describe('a call in a worktree', () => {
  it('B-141 keeps and names what holds changes, and leaves nothing of the rest', async () => {
    const project = makeRepository({ 'src/a.txt': 'a\n', '.gitignore': 'out/\n' });
    const base = project.git('rev-parse', 'HEAD').trim();
    project.write(
      'flow.js',
      isolatedFan({
        nothing: 'echo fine',
        ignored: 'mkdir out; echo x > out/x; echo fine',
        edit: 'echo b >> src/a.txt; echo fine',
        untracked: 'echo new > "new file.txt"; echo fine',
        commit: 'echo c > src/c.txt; git add -A; git commit -qm more; echo fine',
        detour: 'git commit -q --allow-empty -m x; git checkout -q --detach HEAD~1; echo fine',
        fails: 'echo half > half.txt; exit 1',
        fine: 'exit 1',
      }),
    );
    const done = await run(project, ['flow.js', ...SHELL, '--retries', '0']);
    expect([done.code, done.result]).toEqual([3, ['fine', 'fine', 'fine', 'fine', 'fine', 'fine', null, null]]);
    const about = (kept: Kept): [string, string[], number] => [kept.label, kept.files, kept.commits];
    expect(keptIn(done).map(about).sort()).toEqual([
      ['commit', ['src/c.txt'], 1],
      ['detour', [], 1],
      ['edit', ['src/a.txt'], 0],
      ['fails', ['half.txt'], 0],
      ['untracked', ['new file.txt'], 0],
    ]);
    for (const kept of keptIn(done)) {
      expect(kept).toMatchObject({ base, branch: `wf/${done.id}/${kept.n}` });
      expect(kept.path).toBe(join(project.dir, '.claude', 'worktrees', `${done.id}-${kept.n}`));
      expect(existsSync(kept.path)).toBe(true);
      expect(done.stderr).toContain(`branch ${kept.branch}, in ${kept.path}`);
    }
    const kept = keptIn(done);
    expect(treesOf(project).sort()).toEqual(kept.map(({ path }) => path).sort());
    expect(branchesOf(project)).toEqual(kept.map(({ branch }) => branch).sort());
    expect(readdirSync(project.path('.claude', 'worktrees')).sort()).toEqual(
      ['.gitignore', ...kept.map(({ n }) => `${done.id}-${n}`)].sort(),
    );
    // The project itself is as it was, and git sees nothing of them there.
    expect(project.git('status', '--porcelain')).toBe('?? flow.js\n');
    expect(project.read('src/a.txt')).toBe('a\n');
    const lines = madeIn(project, done.id);
    const told = lines.flatMap((line) => ((line.worktrees as { path: string }[]) ?? []).map(({ path }) => path));
    expect(told.sort()).toEqual(kept.map(({ path }) => path).sort());
    const shown = await runWf(['show', done.id], { project });
    for (const { branch } of kept) expect(shown.stdout).toContain(branch);
    const one = await runWf(['show', done.id, 'edit', '--json'], { project });
    expect(JSON.parse(one.stdout)).toMatchObject({ worktrees: [{ files: ['src/a.txt'], commits: 0 }] });
  });

  it('B-139 begins at what is checked out when the call starts, whatever the branch, remote or state of the folder', async () => {
    const project = makeRepository({ 'a.txt': 'a\n' });
    project.git('checkout', '-q', '-b', 'work');
    project.git('commit', '-q', '--allow-empty', '-m', 'two');
    const before = project.git('rev-parse', 'HEAD').trim();
    project.write('a.txt', 'not committed\n');
    project.write(
      'flow.js',
      `export const meta = { name: 'flow', description: 'Two in turn' }
const one = await agent('git rev-parse HEAD; cat a.txt', { isolation: 'worktree' })
await agent('cd ${project.dir}; git commit -q --allow-empty -m three; git checkout -q --detach')
return [one, await agent('git rev-parse HEAD', { isolation: 'worktree' })]
`,
    );
    const done = await run(project, ['flow.js', ...SHELL]);
    const after = project.git('rev-parse', 'HEAD').trim();
    expect(after).not.toBe(before);
    expect(done.result).toEqual([`${before}\na`, after]);
    expect(done.stderr).toMatch(/WF_WORKTREE_BASE: The working tree has 2 uncommitted changes/);
    expect(done.stderr.match(/WF_WORKTREE_BASE/g)).toHaveLength(1);
    expect(treesOf(project)).toEqual([]);
  });

  it('B-140 makes 16 at once, also while something else holds a lock of git for a while', async () => {
    const project = makeRepository({ 'a.txt': 'a\n' });
    const prompts = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`c${i}`, `pwd; echo ${i} > mine.txt`]));
    project.write('flow.js', isolatedFan(prompts));
    // Somebody else's lock on the place of all branches of this run.
    const runId = 'b1400000-0000-4000-8000-000000000001';
    project.write(`.git/refs/heads/wf/${runId}/3.lock`, '');
    const going = startWf(['run', 'flow.js', '--run-id', runId, '--concurrency', '16', ...SHELL], {
      project,
      timeoutMs: 120_000,
    });
    await going.waitForStderr(/#3 c2: (started|tool git worktree)/);
    const made = project.path('.claude', 'worktrees');
    await waitFor(
      '15 worktrees',
      () => existsSync(made) && readdirSync(made).filter((name) => /-\d+$/.test(name)).length >= 15,
    );
    rmSync(project.path(`.git/refs/heads/wf/${runId}/3.lock`));
    const done = await going.done;
    expect(done.code).toBe(0);
    const places = JSON.parse(done.stdout) as string[];
    expect(new Set(places).size).toBe(16);
    expect(treesOf(project).sort()).toEqual([...places].sort());
    expect(branchesOf(project)).toHaveLength(16);
  }, 120_000);
});

describe('an attempt', () => {
  it('that failed and left changes is kept as it is, and the next one begins at the commit again; a re-ask goes on', async () => {
    const project = makeRepository({ 'a.txt': 'a\n' });
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    project.write(
      'flow.js',
      isolatedFan({
        retried: 'ls; [ "$WF_ATTEMPT" = 2 ] && exit 0; echo half > half.txt; exit 75',
        clean: 'pwd > "$HOME/clean.$WF_ATTEMPT"; [ "$WF_ATTEMPT" = 2 ] && exit 0; exit 75',
      }).replace(
        '])\n',
        `, () => agent('echo x >> asked.txt; wc -l < asked.txt', { label: 'asked', isolation: 'worktree', schema: ${JSON.stringify(schema)} })])\n`,
      ),
    );
    const done = await run(project, ['flow.js', ...SHELL, '--retries', '1']);
    expect(done.result).toEqual(['a.txt', '', null]);
    const kept = keptIn(done).map(({ label, branch, files }) => [label, branch.split('/').at(-1), files]);
    expect(kept.sort()).toEqual([
      ['asked', '3', ['asked.txt']],
      ['retried', '1', ['half.txt']],
    ]);
    const [one, two] = [1, 2].map((attempt) => readFileSync(join(project.home, `clean.${attempt}`), 'utf8'));
    expect(two).toBe(one);
    const asked = keptIn(done).find(({ label }) => label === 'asked') as Kept;
    expect(readFileSync(join(asked.path, 'asked.txt'), 'utf8').split('\n').length).toBeGreaterThan(2);
    expect(branchesOf(project)).toHaveLength(2);
  }, 120_000);
});

describe('a worktree that cannot be made', () => {
  const script = isolatedFan({ one: 'echo ran > "$HOME/ran"; echo x' });
  const refused = async (project: TestProject, options: Parameters<typeof run>[2] = {}): Promise<string> => {
    const done = await run(project, ['flow.js', ...SHELL], options);
    expect([done.code, done.result]).toEqual([3, [null]]);
    expect(existsSync(join(project.home, 'ran'))).toBe(false);
    expect(done.state.failures).toMatchObject([{ code: 'WF_WORKTREE', status: 'failed' }]);
    // B-036: what could not be set up is on record.
    expect(madeIn(project, done.id)).toMatchObject([{ label: 'one', kind: 'failed', error: { code: 'WF_WORKTREE' } }]);
    const [{ message }] = done.state.failures as [{ message: string }];
    expect(message).not.toContain(project.root);
    return `${message}\n${done.stderr}`;
  };

  it('fails its call before an agent is started: no repository, no commit, a bare one, no git', async () => {
    const none = makeProject({ files: { 'flow.js': script } });
    expect(await refused(none)).toMatch(/lies in no git repository/);
    const unborn = makeProject({ files: { 'flow.js': script } });
    unborn.git('init', '-q');
    expect(await refused(unborn)).toMatch(/has no commit that is checked out/);
    const bare = makeProject({ files: { 'flow.js': script } });
    bare.git('init', '-q', '--bare', '.');
    expect(await refused(bare)).toMatch(/is bare/);
    const gitless = makeRepository({ 'flow.js': script });
    // A folder of programs without git.
    const bin = join(gitless.root, 'bin');
    mkdirSync(bin);
    for (const name of ['sh', 'cat']) symlinkSync(`/bin/${name}`, join(bin, name));
    expect(await refused(gitless, { env: { PATH: bin } })).toMatch(/git was not found.*Install git/);
  }, 120_000);

  it('fails its call when a hook, a filter or the names in the repository are against it, and leaves nothing', async () => {
    const hooked = makeRepository({ 'flow.js': script });
    hooked.write('.git/hooks/post-checkout', '#!/bin/sh\necho "error: the hook says no" >&2\nexit 7\n');
    chmodSync(hooked.path('.git/hooks/post-checkout'), 0o755);
    expect(await refused(hooked)).toMatch(/git failed with exit code 7[\s\S]*the hook says no/);
    const taken = makeRepository({ 'flow.js': script });
    taken.git('branch', 'wf');
    expect(await refused(taken)).toMatch(/Rename the branch wf/);
    const filtered = makeRepository({ 'flow.js': script, '.gitattributes': '*.bin filter=lost\n', 'a.bin': 'x' });
    filtered.git('config', 'filter.lost.smudge', 'false');
    filtered.git('config', 'filter.lost.required', 'true');
    expect(await refused(filtered)).toMatch(/smudge filter/);
    for (const project of [hooked, taken, filtered]) {
      expect(treesOf(project)).toEqual([]);
      expect(branchesOf(project)).toEqual([]);
      expect(readdirSync(project.path('.claude', 'worktrees'))).toEqual(['.gitignore']);
    }
  }, 120_000);

  it('fails its call on a full disk', async (context) => {
    needTool(context, 'prlimit');
    const project = makeRepository({ 'flow.js': script, 'large.bin': 'x'.repeat(300_000) });
    // The largest file that may be written is smaller than one of the repository's.
    const done = await runWf(['run', 'flow.js', ...SHELL], { project, under: ['prlimit', '--fsize=200000'] });
    expect(done.code).toBe(3);
    expect(done.stderr).toMatch(/WF_WORKTREE/);
    expect(existsSync(join(project.home, 'ran'))).toBe(false);
    expect(treesOf(project)).toEqual([]);
  });
});

describe('the folder of a call', () => {
  it('B-144 is the same place below the top of its worktree; nobody else is moved', async () => {
    const project = makeRepository({ 'packages/a/x.txt': 'a', 'packages/b/x.txt': 'b' });
    const report = 'echo "$(pwd):$(cat x.txt 2>/dev/null)"; sleep 0.2; pwd';
    project.write(
      'packages/a/flow.js',
      `export const meta = { name: 'flow', description: 'Folders' }
const ask = (label, options) => () => agent(${JSON.stringify(report)} + ' #' + label, { label, ...options })
const tree = { isolation: 'worktree' }
return await parallel([ask('own', tree), ask('b', { ...tree, cwd: '../b' }), ask('top', { ...tree, cwd: '../..' }), ask('new', { ...tree, cwd: 'new' }),
  ask('here', {}), ask('there', { cwd: '../b' })])
`,
    );
    mkdirSync(project.path('packages/a/new'));
    const cwd = project.path('packages/a');
    const done = await run(project, ['flow.js', ...SHELL, '--concurrency', '6'], { cwd });
    const tree = (n: number, way: string): string => `${project.dir}/.claude/worktrees/${done.id}-${n}${way}`;
    const says = (folder: string, text: string): string => `${folder}:${text}\n${folder}`;
    expect(done.result).toEqual([
      says(tree(1, '/packages/a'), 'a'),
      says(tree(2, '/packages/b'), 'b'),
      says(tree(3, ''), ''),
      says(tree(4, '/packages/a/new'), ''),
      says(cwd, 'a'),
      says(project.path('packages/b'), 'b'),
    ]);
    expect(treesOf(project)).toEqual([]);
  }, 120_000);

  it('B-145 has a name of run and number, whatever the label says', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    const labels = ['feat/x', 'a\\b', 'ü ñ', 'con', '..', 'x'.repeat(300), 'dot.', '-rf', '$(touch no)'];
    project.write(
      'flow.js',
      `export const meta = { name: 'flow', description: 'Labels' }
return await parallel(${JSON.stringify(labels)}.map((label) => () => agent('pwd', { label, isolation: 'worktree' })))
`,
    );
    const done = await run(project, ['flow.js', ...SHELL]);
    expect(done.result).toEqual(labels.map((_, i) => `${project.dir}/.claude/worktrees/${done.id}-${i + 1}`));
    expect(branchesOf(project)).toEqual([]);
  }, 120_000);

  it('is at the main working tree, also for a run in a linked one or by an agent in one of ours', async () => {
    const project = makeRepository({ 'a.txt': 'a', 'flow.js': isolatedFan({ deep: 'pwd; echo x > y' }) });
    const linked = join(project.root, 'linked');
    project.git('worktree', 'add', '-q', linked);
    const main = `${project.dir}/.claude/worktrees/`;
    const away = await runWf(['run', 'flow.js', ...SHELL], { project, cwd: linked });
    expect(JSON.parse(away.stdout)[0]).toContain(main);
    // An agent that is `wf` itself: its own run lies in the worktree that it got, which is therefore kept.
    const wf = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
    project.write('outer.js', isolatedFan({ outer: `node ${wf} run flow.js --backend command --command sh` }));
    const outer = await run(project, ['outer.js', ...SHELL]);
    expect((outer.result as string[])[0]).toContain(main);
    expect(keptIn(outer)).toMatchObject([{ label: 'outer', doubt: '1 run of wf lies in it' }]);
  }, 120_000);

  it('of a submodule is in a worktree of the submodule, and a worktree of the superproject has it empty', async () => {
    const sub = makeRepository({ 'in.txt': 'sub' });
    const project = makeRepository({ 'a.txt': 'a' });
    project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', sub.dir, 'sub');
    project.git('commit', '-qm', 'sub');
    project.write(
      'flow.js',
      `export const meta = { name: 'flow', description: 'Submodules' }
const tree = { isolation: 'worktree' }
return [await agent('ls -A sub | wc -l', tree), await agent('cat in.txt; echo; pwd; git rev-parse --abbrev-ref HEAD', { ...tree, cwd: 'sub' })]
`,
    );
    const done = await run(project, ['flow.js', ...SHELL]);
    expect((done.result as unknown[])[0]).toBe('0');
    const [text, folder, branch] = String((done.result as unknown[])[1]).split('\n');
    expect([text, branch]).toEqual(['sub', `wf/${done.id}/2`]);
    expect(folder).toBe(`${project.dir}/.claude/worktrees/${done.id}-2`);
    expect([treesOf(project), treesOf(project, project.path('sub'))]).toEqual([[], []]);
  }, 120_000);

  it('in a sparse checkout is as sparse, and what a hook prepares there is no change until it is another', async () => {
    const project = makeRepository({ 'in/a.txt': 'a', 'out/b.txt': 'b' });
    project.git('sparse-checkout', 'set', 'in');
    project.write('.git/hooks/post-checkout', '#!/bin/sh\necho prepared > env.local\n');
    chmodSync(project.path('.git/hooks/post-checkout'), 0o755);
    project.write('flow.js', isolatedFan({ look: 'ls; cat env.local', touch: 'echo more >> env.local' }));
    const done = await run(project, ['flow.js', ...SHELL]);
    expect((done.result as string[])[0]).toBe('env.local\nin\nprepared');
    expect(keptIn(done)).toMatchObject([{ label: 'touch', files: ['env.local'] }]);
  }, 120_000);

  it('is found by git itself, whatever GIT_DIR the caller of wf had', async () => {
    const project = makeRepository({ 'a.txt': 'a' });
    const other = makeRepository({ 'b.txt': 'b' });
    project.write('flow.js', isolatedFan({ look: 'ls' }));
    const env = { GIT_DIR: other.path('.git'), GIT_WORK_TREE: other.dir, GIT_INDEX_FILE: other.path('.git/index') };
    const done = await run(project, ['flow.js', ...SHELL], { env });
    expect(done.result).toEqual(['a.txt']);
    expect(treesOf(other)).toEqual([]);
  });
});
