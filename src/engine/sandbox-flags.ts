/** How Node is started for the sandbox process. */
import { dirname, join } from 'node:path';

export function sandboxFlags(launch: {
  preludePath: string;
  addons: readonly string[];
  permission: boolean;
}): string[] {
  const always = [
    '--no-node-snapshot',
    '--enable-experimental-regexp-engine-on-excessive-backtracks',
    // MB, of this process's own heap: from the default of 1 it would collect the text that passes through it ever so
    // often before it grew.
    '--min-semi-space-size=4',
  ];
  if (!launch.permission) return always;
  const ownFolder = join(dirname(launch.preludePath), '*');
  const readable = [ownFolder, ...launch.addons];
  return [
    ...always,
    '--permission',
    '--allow-addons',
    '--disable-warning=SecurityWarning',
    ...readable.map((path) => `--allow-fs-read=${path}`),
  ];
}
