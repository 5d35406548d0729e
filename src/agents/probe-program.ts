/** Starts the program of an agent for its version and for its sign-in, before any run. Asks no model. */
import { type ProgramEnd, runToEnd } from './run-to-end.js';

/** What a backend that starts a program is probed with. */
export interface ProbedProgram<Settings> {
  settings: Settings;
  folder: string;
  env: NodeJS.ProcessEnv;
  allowEnv: readonly string[];
}

export interface ProgramWords {
  version: string;
  signIn: { exitCode: number | null; stdout: string };
}

const PROBE_MS = 15_000;
/** It has nothing to lose. */
const GRACE_MS = 500;
const MAX_BYTES = 1_000_000;

/**
 * @param signInArgs what makes it tell of its sign-in
 * @param signal stops the program; what it said is then of no use
 * @returns or why it does not start, in a clause
 */
export async function probeProgram(
  program: string,
  start: { cwd: string; env: Record<string, string> },
  signInArgs: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ProgramWords | string> {
  const run = (args: readonly string[]): Promise<ProgramEnd> =>
    runToEnd(program, args, {
      ...start,
      signal,
      timeoutMs: PROBE_MS,
      graceMs: GRACE_MS,
      maxBytes: MAX_BYTES,
      endsWithProcess: true,
    });
  const [version, signIn] = await Promise.all([run(['--version']), run(signInArgs)]);
  if (version.code === 0) {
    return { version: version.stdout.trim(), signIn: { exitCode: signIn.code, stdout: signIn.stdout } };
  }
  return `${program} does not start: ${wordFailure(version)}`;
}

function wordFailure({ code, endedBy, stderr, startError }: ProgramEnd): string {
  if (startError !== undefined) return `it cannot be executed (${startError})`;
  const words = stderr.trim().split('\n').at(-1) ?? '';
  if (words !== '') return words;
  if (endedBy !== null) return `${endedBy} ended it`;
  return code === null ? `it did not tell its version within ${PROBE_MS / 1000} s` : `it ended with exit code ${code}`;
}
