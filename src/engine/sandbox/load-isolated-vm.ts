import { createRequire } from 'node:module';
import type { Ivm } from './isolate-host.js';

/**
 * Loads the first of the given addons that loads, and never a second one: two in one process abort it.
 *
 * @param candidates paths of `.node` files, the newest version first
 */
export function loadIsolatedVm(candidates: readonly string[], from: string): { ivm: Ivm; path: string } {
  const require = createRequire(from);
  const faults: string[] = [];
  for (const path of candidates) {
    try {
      return { ivm: (require(path) as { ivm: Ivm }).ivm, path };
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(faults.join('; ') || 'no build of isolated-vm was found');
}
