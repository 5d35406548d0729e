/** A process that no signal ends (it is another user's, or stuck in the kernel) must not keep `wf` from its own end. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TreeEnder } from './end-tree.js';

/** The news of an end comes a little after the end. */
const NEWS_MS = 200;

/**
 * To be called when all was done to end it. Resolves with its end, or when it is left to itself; whoever reads its output
 * has to let go of that then, and tell of what is left of its tree.
 *
 * @param exited resolves when the process has ended
 */
export async function leaveUnreachable(child: ChildProcess, tree: TreeEnder, exited: Promise<void>): Promise<void> {
  const isThere = tree.left.some(({ pid }) => pid === child.pid);
  const ended = !isThere && (await Promise.race([exited.then(() => true), sleep(NEWS_MS, false, { ref: false })]));
  if (!ended) child.unref();
}
