/** Starts the program of an agent for its version and for its sign-in, before any run. Asks no model. */

/** What a backend that starts a program is probed with. */
export interface ProbedProgram<Settings> {
  settings: Settings;
  folder: string;
  env: NodeJS.ProcessEnv;
  allowEnv: readonly string[];
}

export interface ProgramWords {
  version: string;
  signIn: { exitCode?: number | undefined; stdout: string };
}

const PROBE_MS = 15_000;

/**
 * @param signInArgs what makes it tell of its sign-in
 * @returns or why it does not start, in a clause
 */
export async function probeProgram(
  program: string,
  start: { cwd: string; env: Record<string, string> },
  signInArgs: readonly string[],
): Promise<ProgramWords | string> {
  const { execa } = await import('execa');
  const run = (args: readonly string[]) =>
    execa(program, args, {
      ...start,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: PROBE_MS,
      forceKillAfterDelay: 1_000,
    });
  const [version, signIn] = await Promise.all([run(['--version']), run(signInArgs)]);
  if (version.exitCode === 0) return { version: version.stdout.trim(), signIn };
  const words = version.stderr.trim().split('\n').at(-1) ?? '';
  return `${program} does not start: ${words || version.shortMessage}`;
}
