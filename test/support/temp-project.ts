/**
 * A project of its own for a test: folder, HOME, runtime and temp folder, and the whole environment for what runs in it.
 * It is gone at the end of the test, and so is everything that was started in it.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { describeProcess, expectNoProcessesLeft, killMarked } from './processes.js';

export interface TestProject {
  /** Holds everything of this project; its name marks every process that runs in it. Real path. */
  readonly root: string;
  /** The project's own folder: where scripts lie and `wf` is started. */
  readonly dir: string;
  readonly home: string;
  /** Where test agents keep their ledger and gates: outside of the project. */
  readonly control: string;
  /** `.claude/workflow-runs` of the project. */
  readonly runsDir: string;
  /** The complete environment; nothing is taken over from the process that runs the tests but the place of programs. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of a file of the project. */
  path(...parts: string[]): string;
  write(file: string, text: string | Buffer): string;
  read(file: string): string;
  /** Ids of the run folders, oldest first by modification time. */
  runIds(): string[];
  runDir(runId: string): string;
  git(...args: string[]): string;
  /** Runs at the project's end, before its processes are looked for; the last one added runs first. */
  onDispose(work: () => void | Promise<void>): void;
  dispose(): Promise<void>;
}

export interface ProjectOptions {
  /** Path in the project → text. `.claude/workflows/x.js`, for example. */
  files?: Record<string, string>;
  /** Makes it a git repository whose first commit holds the files. */
  git?: boolean;
  /** `test` (default): gone when the current test ends; `file`: when the test file ends, for `beforeAll`. */
  until?: 'test' | 'file';
  /** The test leaves processes on purpose: they are ended at the end without a word. */
  leavesProcesses?: boolean;
  /** ms that processes have to end by themselves once the test is over; default 5 s. */
  endsWithinMs?: number;
}

const untilFileEnds = new Set<TestProject>();
afterAll(async () => {
  for (const project of [...untilFileEnds].reverse()) await project.dispose();
});

export function makeProject(options: ProjectOptions = {}): TestProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'wf-test-')));
  const [dir, home, control, runtime, tmp] = ['project', 'home', 'control', 'runtime', 'tmp'].map((name) => {
    mkdirSync(join(root, name), { mode: 0o700 });
    return join(root, name);
  }) as [string, string, string, string, string];
  const env = {
    // The Node that runs the tests stands first, so that `node` means it in agents too.
    PATH: [
      dirname(process.execPath),
      '/usr/local/sbin',
      '/usr/local/bin',
      '/usr/sbin',
      '/usr/bin',
      '/sbin',
      '/bin',
    ].join(':'),
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TMPDIR: tmp,
    XDG_RUNTIME_DIR: runtime,
    NO_COLOR: '1',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const runsDir = join(dir, '.claude', 'workflow-runs');
  const disposals: (() => void | Promise<void>)[] = [];
  let disposed = false;

  const project: TestProject = {
    root,
    dir,
    home,
    control,
    runsDir,
    env,
    path: (...parts) => join(dir, ...parts),
    write(file, text) {
      const path = join(dir, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    },
    read: (file) => readFileSync(join(dir, file), 'utf8'),
    runIds: () => listRunIds(runsDir),
    runDir: (runId) => join(runsDir, runId),
    git: (...args) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }),
    onDispose: (work) => void disposals.push(work),
    async dispose() {
      if (disposed) return;
      disposed = true;
      untilFileEnds.delete(project);
      try {
        for (const work of disposals.reverse()) await work();
        await endProcesses(root, options);
      } finally {
        removeFolder(root);
      }
    },
  };
  if (options.until === 'file') untilFileEnds.add(project);
  else onTestFinished(() => project.dispose());
  for (const [file, text] of Object.entries(options.files ?? {})) project.write(file, text);
  if (options.git) commitAll(project);
  return project;
}

/** Folders named by a UUID, oldest first; the hidden ones are runs in the making or being removed. */
function listRunIds(runsDir: string): string[] {
  if (!existsSync(runsDir)) return [];
  return readdirSync(runsDir, { withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isDirectory() && /^[0-9a-f-]{36}$/.test(entry.name))
    .map((entry) => ({ name: entry.name, time: modifiedAt(join(runsDir, entry.name)) }))
    .sort((a, b) => a.time - b.time)
    .map(({ name }) => name);
}

async function endProcesses(root: string, options: ProjectOptions): Promise<void> {
  if (process.platform !== 'linux') return;
  if (options.leavesProcesses) {
    killMarked([root]);
    return;
  }
  try {
    await expectNoProcessesLeft(root, { timeoutMs: options.endsWithinMs ?? 5_000 });
  } catch {
    const rows = killMarked([root]);
    if (rows.length === 0) return;
    throw new Error(`This test left processes behind (now ended):\n${rows.map(describeProcess).join('\n')}`);
  }
}

function removeFolder(root: string): void {
  if (process.env.WF_KEEP_TEMP) {
    console.log(`kept: ${root}`);
    return;
  }
  try {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  } catch {
    // A test may have taken permissions away.
    execFileSync('chmod', ['-R', 'u+rwX', root]);
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

function commitAll(project: TestProject): void {
  project.git('init', '--quiet', '--initial-branch=main');
  project.git('config', 'user.name', 'Test');
  project.git('config', 'user.email', 'test@example.invalid');
  project.git('add', '--all');
  project.git('commit', '--quiet', '--allow-empty', '--message=start');
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
