/** What the end of a program means. Exit codes follow sysexits.h: 69 down, 75 transient, 77 sign-in, 78 configuration. */
import { BackendError, type BackendErrorKind } from '../backend.js';
import type { CommandEnd } from '../run-command.js';
import type { StderrReader } from './read-stderr.js';

const KINDS: Record<number, BackendErrorKind> = { 69: 'overloaded', 75: 'server', 77: 'auth', 78: 'config' };

const REMEDIES: Partial<Record<BackendErrorKind, string>> = {
  auth: 'Sign in to it, then go on with the run.',
  config: 'Correct its configuration, then go on with the run.',
};

/** The error of a program that ended otherwise than with exit code 0. */
export function describeExit(name: string, end: CommandEnd, stderr: StderrReader, stdout: string): BackendError {
  const told = stderr.failure;
  const kind = told?.kind ?? KINDS[end.exitCode ?? 0] ?? 'failed';
  const how = end.signal ? `was ended by ${end.signal}` : `ended with exit code ${end.exitCode}`;
  const said = told?.message ?? (stderr.lastLine || lastLineOf(stdout));
  const cause = said === '' ? ' and said nothing.' : `: ${said}`;
  return new BackendError(kind, `${name} ${how}${cause}`, {
    usage: stderr.usage,
    retryAfterMs: told?.retryAfterMs,
    resetsAt: told?.resetsAt,
    remedy: REMEDIES[kind],
  });
}

const lastLineOf = (text: string): string => text.trimEnd().split('\n').at(-1)?.trim() ?? '';
