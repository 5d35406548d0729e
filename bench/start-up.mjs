import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WF = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const HELLO = "export const meta = { name: 'hello', description: 'one call' }\nreturn await agent('hello')\n";

/** Medians of ten, taken in turn. */
export async function startUp(folder) {
  writeFileSync(join(folder, 'hello.js'), HELLO);
  const commands = {
    node: ['-e', '0'],
    version: [WF, '--version'],
    hello: [WF, 'run', 'hello.js', '--backend', 'mock', '-q'],
  };
  const times = { node: [], version: [], hello: [] };
  const env = { PATH: process.env.PATH, HOME: folder };
  for (let i = 0; i < 11; i++) {
    for (const [name, args] of Object.entries(commands)) {
      const started = performance.now();
      const { status } = spawnSync(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      if (i > 0) times[name].push(performance.now() - started);
    }
  }
  const median = (values) => values.sort((a, b) => a - b)[5];
  const base = median(times.node);
  return [
    {
      name: `wf --version beyond node -e 0 (${base.toFixed(0)} ms)`,
      value: `${(median(times.version) - base).toFixed(0)} ms`,
      aim: '<= 100 ms',
    },
    {
      name: 'hello on mock beyond node -e 0',
      value: `${(median(times.hello) - base).toFixed(0)} ms`,
      aim: '<= 400 ms',
    },
  ];
}
