import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WF = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** Runs `wf` with these words in a process of its own; ms from before its start to after its end. */
export function timeWf(folder, ...words) {
  return timeNode(folder, WF, ...words);
}

export function timeNode(folder, ...words) {
  const env = { PATH: process.env.PATH, HOME: folder };
  const started = performance.now();
  const { status } = spawnSync(process.execPath, words, { cwd: folder, env, stdio: 'ignore' });
  const ms = performance.now() - started;
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
  return ms;
}
