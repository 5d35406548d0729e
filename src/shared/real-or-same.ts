import { realpathSync } from 'node:fs';

/** Without links on the way to it; as it was given where that cannot be told. */
export function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
