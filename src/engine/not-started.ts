/** Words for a sandbox process that could not be started. */
import { isScarce } from '../shared/scarce.js';

/** @param code of the system's error */
export const wordNotStarted = (code: string): string =>
  isScarce(code)
    ? `The sandbox process could not be started: the system is out of resources (${code}). Raise the limits of open files and of processes (ulimit -n, ulimit -u), or end other programs.`
    : `The sandbox process could not be started: its Node cannot be executed (${code}).`;
