/** What no guard watches, as before a run, must not outlive this process where that leaves at once. */
import type { TreeEnder } from './end-tree.js';

const held = new Set<TreeEnder>();

/** What is done before its first pause is all that an exit leaves time for: the signals are sent by then. */
function endHeld(): void {
  for (const tree of held) void tree.finish();
}

/**
 * Ends a program, with all that it started, should this process exit before it was let go.
 *
 * @returns lets go
 */
export function endWithProcess(tree: TreeEnder): () => void {
  // One listener for all of them: of many Node warns.
  if (held.size === 0) process.on('exit', endHeld);
  held.add(tree);
  return () => {
    held.delete(tree);
    if (held.size === 0) process.off('exit', endHeld);
  };
}
