/** What it means that an agent's program could not be started. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { BackendError } from './backend.js';
import { isScarce } from '../shared/scarce.js';
import { statIfThere } from '../shared/stat-if-there.js';

/**
 * The error of a program that could not be started.
 *
 * @param name for people
 * @param program as the command names it
 */
export function describeStartFailure(name: string, code: string, cwd: string, program = name): BackendError {
  if (statIfThere(cwd)?.isDirectory() !== true) {
    return new BackendError(
      'invalid_request',
      `The working folder of the call does not exist, so ${name} was not started.`,
    );
  }
  if (isScarce(code)) {
    const message = `${name} could not be started: the system is out of resources (${code}).`;
    return new BackendError('overloaded', message, {
      noRoom: true,
      remedy: 'Fewer calls at once (--concurrency) need less.',
    });
  }
  const { reason, advice } = explainMissing(program, code, cwd);
  return new BackendError('backend_missing', `${name} could not be started: ${reason}.`, {
    remedy: `${advice}Install it or correct the command, then go on with the run.`,
  });
}

function explainMissing(program: string, code: string, cwd: string): { reason: string; advice: string } {
  const path = resolve(cwd, program);
  const isThere = isFile(path);
  if (code !== 'ENOENT')
    return {
      reason: `it cannot be executed (${code})`,
      advice: code === 'EACCES' && isThere ? 'Make it executable (chmod +x). ' : '',
    };
  if (isThere && !program.includes('/'))
    return {
      reason: 'there is no such program on the PATH',
      advice: `The file ${program} of this folder is meant by ./${program}. `,
    };
  // Where the file is there, what the system misses is its interpreter.
  const first = isThere ? readInterpreter(path) : undefined;
  if (first === undefined) return { reason: 'there is no such program', advice: '' };
  const shown = first.trimEnd();
  // The system takes it for a part of the interpreter's name, where no argument stands between the two.
  if (/^#!\s*\S+\r$/.test(first))
    return {
      reason: `its first line (${shown}) ends in a carriage return`,
      advice: 'Save it with line ends of Unix (LF). ',
    };
  return { reason: `the program that its first line names (${shown}) is not there`, advice: '' };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The first line of a script with `#!`, as far as the system itself reads it. */
function readInterpreter(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const start = Buffer.alloc(256);
    const text = start.toString('utf8', 0, readSync(fd, start));
    return /^#![^\n]+/.exec(text)?.[0];
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
