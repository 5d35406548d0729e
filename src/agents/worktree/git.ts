/**
 * Runs git: without a prompt, without the optional locks, in one language, and away from any repository that the environment
 * names. What a hook leaves running and that holds the pipe is not waited for.
 */
import type { AgentRunContext } from '../backend.js';
import { createTreeEnder } from '../end-tree.js';
import { watchExit } from '../watch-exit.js';
import { watchOutput } from '../watch-output.js';

/** What running git needs of its surroundings. */
export interface GitPlace {
  /** Environment of `wf` itself: the user's git configuration, proxies and keys hold here as they do by hand. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told of commands that may take long: they must not outlive `wf`. */
  onProcess?(pid: number): void;
  onProcessEnd?: AgentRunContext['onProcessEnd'];
}

export interface GitStart {
  cwd: string;
  /** Ends git and what it started. */
  signal?: AbortSignal | undefined;
  /** ms; default 2 minutes. */
  timeoutMs?: number;
  /** It may run hooks and filters of the user. */
  isLong?: boolean;
  /** Works on this worktree even where its `.git` file was taken away. */
  worktree?: { gitDir: string; path: string };
}

export interface GitEnd {
  /** `null`: it could not be started, or a signal or the time limit ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** Code of the system error when git could not be started. */
  startError: string | undefined;
}

/** Of a hook of git, say, `wf` inherits these: they would lead every command to that repository. */
const LEADS_ELSEWHERE = new Set([
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_CEILING_DIRECTORIES',
]);

const STANDARD_MS = 120_000;
const GRACE_MS = 1_000;
/** Longest output; beyond it git is stopped. */
const MAX_BYTES = 100_000_000;

/** Runs one git command to its end. Never rejects. */
export async function runGit(place: GitPlace, args: readonly string[], start: GitStart): Promise<GitEnd> {
  const { execa } = await import('execa');
  const end: GitEnd = { code: null, stdout: '', stderr: '', startError: undefined };
  if (start.signal?.aborted) return end;
  const child = execa('git', args, {
    cwd: start.cwd,
    env: gitEnvironment(place.env, start.worktree),
    extendEnv: false,
    detached: true,
    cleanup: false,
    buffer: false,
    reject: false,
    stdin: 'ignore',
  });
  const { pid } = child;
  if (pid === undefined) {
    const { code } = (await child) as { code?: string };
    return { ...end, startError: code ?? 'unknown' };
  }
  if (start.isLong) place.onProcess?.(pid);
  const tree = createTreeEnder(pid);
  const exit = watchExit(child.nodeChildProcess, tree);
  const stop = (): void => exit.stop(GRACE_MS);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let bytes = 0;
  const collect = (chunks: Buffer[], chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= MAX_BYTES) chunks.push(chunk);
    else stop();
  };
  child.stdout.on('data', (chunk: Buffer) => collect(stdout, chunk));
  child.stderr.on('data', (chunk: Buffer) => collect(stderr, chunk));
  const output = watchOutput([child.stdout, child.stderr], () => bytes);
  const timer = setTimeout(stop, start.timeoutMs ?? STANDARD_MS);
  start.signal?.addEventListener('abort', stop, { once: true });
  if (start.signal?.aborted) stop();
  try {
    await exit.exited;
    await output.isDrained();
    await exit.stopping;
    // What was cut off is no answer, whatever exit code git found for it.
    const code = exit.stopping === undefined ? exit.code : null;
    return { ...end, code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
  } finally {
    clearTimeout(timer);
    start.signal?.removeEventListener('abort', stop);
    child.stdout.destroy();
    child.stderr.destroy();
    if (start.isLong) place.onProcessEnd?.(pid, tree.left);
  }
}

function gitEnvironment(env: GitPlace['env'], worktree: GitStart['worktree']): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !LEADS_ELSEWHERE.has(name)) own[name] = value;
  }
  Object.assign(own, { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' });
  if (worktree !== undefined) Object.assign(own, { GIT_DIR: worktree.gitDir, GIT_WORK_TREE: worktree.path });
  return own;
}

/** The last line that says what was wrong, for people. */
export function saidBy({ stderr, startError }: GitEnd): string {
  if (startError !== undefined) return `git could not be started (${startError})`;
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const fatal = lines.findLast((line) => /^(?:fatal|error):/.test(line));
  return (fatal ?? lines.at(-1) ?? 'it said nothing').slice(0, 500);
}
