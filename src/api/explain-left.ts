/** Words about a process that could not be ended. */
import { processUser } from '../shared/process-info.js';
import { readProcess } from '../shared/process-tree.js';

/** Why, as far as it can be seen now: a clause. */
export function explainLeft(pid: number): string {
  const user = processUser(pid);
  if (user !== null && user !== process.geteuid?.()) return `it belongs to user ${user}`;
  if (readProcess(pid)?.state === 'D')
    return 'it is stuck in the kernel, as behind a disk or a network folder that does not answer';
  return 'no signal of this user ended it';
}

export const howToEndLeft = (pid: number): string =>
  `End it with the rights of its user, or as root: kill -KILL ${pid}.`;
