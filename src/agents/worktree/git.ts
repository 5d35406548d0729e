/**
 * Runs git: without a prompt, without the optional locks, in one language, and away from any repository that the environment
 * names.
 */
import { isScarce } from '../../shared/scarce.js';
import type { AgentRunContext } from '../backend.js';
import { type ProgramEnd, runToEnd } from '../run-to-end.js';
import { repeat } from './repeat.js';

/** What running git needs of its surroundings. */
export interface GitPlace {
  /** Environment of `wf` itself: the user's git configuration, proxies and keys hold here as they do by hand. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told of commands that may take long: they must not outlive `wf`. */
  onProcess?(pid: number): void;
  onProcessEnd?: AgentRunContext['onProcessEnd'];
  /**
   * For a look at many worktrees, which would not come to an end if each of them waited for the same: what was still in
   * the way at the end of a wait, and commands that ran into their time limit. It is not waited for a second time.
   */
  readonly outlasted?: Set<string>;
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

/** Its `code` is `null` too when the time limit or the signal ended git. */
export type GitEnd = Omit<ProgramEnd, 'endedBy' | 'isLate'>;

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

/** Commands that only look: no lock of theirs is left where they are cut off. Others are left to come to their end. */
const LOOKS = new Set(['status', 'rev-parse', 'for-each-ref', 'rev-list', 'diff']);

const STANDARD_MS = 120_000;
/** Of a command that has outlasted its limit before. */
const SECOND_MS = 5_000;
const GRACE_MS = 1_000;
/** Longest output; beyond it git is stopped. */
const MAX_BYTES = 100_000_000;

/** Runs one git command to its end. Never rejects. */
export const runGit = (place: GitPlace, args: readonly string[], start: GitStart): Promise<GitEnd> =>
  repeat(() => startGit(place, args, start), scarcityOf, { outlasted: place.outlasted, signal: start.signal });

/** The system has no room for it: others end soon, as they are short. */
const scarcityOf = (end: GitEnd): string | undefined =>
  end.startError !== undefined && isScarce(end.startError) ? saidBy(end) : undefined;

async function startGit(place: GitPlace, args: readonly string[], start: GitStart): Promise<GitEnd> {
  const command = `git ${args.slice(0, 2).join(' ')}`;
  const limitMs = start.timeoutMs ?? STANDARD_MS;
  const timeoutMs = place.outlasted?.has(command) ? Math.min(SECOND_MS, limitMs) : limitMs;
  const end = await runToEnd('git', args, {
    cwd: start.cwd,
    env: gitEnvironment(place.env, start.worktree),
    signal: start.signal,
    timeoutMs,
    graceMs: GRACE_MS,
    maxBytes: MAX_BYTES,
    endsWithProcess: LOOKS.has(args[0] as string),
    ...(start.isLong ? { onProcess: place.onProcess, onProcessEnd: place.onProcessEnd } : {}),
  });
  if (!end.isLate) return end;
  place.outlasted?.add(command);
  return {
    ...end,
    stderr: `${end.stderr}\nerror: ${command} was stopped: it had not ended after ${timeoutMs / 1000} s`,
  };
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
