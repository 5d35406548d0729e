/**
 * Ends what a program has left behind that was itself ended from outside: once it is gone, children with sessions of
 * their own are no longer below it. They are known by the variables that every process of a call inherits.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { sendSignal } from '../shared/process-tree.js';

/** What only the processes of this call have in their environment. */
export const callMarks = ({ WF_RUN_ID = '', WF_CALL_KEY = '' }: Record<string, string>): Record<string, string> => ({
  WF_RUN_ID,
  WF_CALL_KEY,
});

/**
 * @param marks variables that belong to this one call
 * @returns how many processes were ended; 0 where environments of processes cannot be read
 */
export function endMarked(marks: Readonly<Record<string, string>>): number {
  if (process.platform !== 'linux') return 0;
  const texts = Object.entries(marks).map(([name, value]) => `\0${name}=${value}\0`);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const marked = pids.filter((pid) => {
    const environment = readEnvironment(pid);
    return environment !== undefined && texts.every((text) => environment.includes(text));
  });
  return marked.filter((pid) => sendSignal(Number(pid), 'SIGKILL')).length;
}

/** Of other users' processes, and of those that have just ended, there is none. */
function readEnvironment(pid: string): string | undefined {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'utf8')}`;
  } catch {
    return undefined;
  }
}
