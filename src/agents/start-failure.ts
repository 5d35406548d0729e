/** What it means that an agent's program could not be started. */
import { BackendError } from './backend.js';
import { isScarce } from '../shared/scarce.js';
import { statIfThere } from '../shared/stat-if-there.js';

/** The error of a program that could not be started. */
export function describeStartFailure(name: string, code: string, cwd: string): BackendError {
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
  const reason = code === 'ENOENT' ? 'there is no such program' : `it cannot be executed (${code})`;
  return new BackendError('backend_missing', `${name} could not be started: ${reason}.`, {
    remedy: 'Install it or correct the command, then go on with the run.',
  });
}
