/** Before a run there is no guard: what is started then must not outlive this process where that leaves at once. */
import { createTreeEnder } from './end-tree.js';

/**
 * Ends a program, with all that it started, should this process exit before it was let go.
 *
 * @param pid a leader of its own session and group
 * @returns lets go
 */
export function endWithProcess(pid: number): () => void {
  const tree = createTreeEnder(pid);
  // What is done before its first pause is all that an exit leaves time for: the signals are sent by then.
  const end = (): void => void tree.finish();
  process.once('exit', end);
  return () => void process.off('exit', end);
}
