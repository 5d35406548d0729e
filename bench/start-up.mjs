import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './median.mjs';
import { timeNode, timeWf } from './run-cli.mjs';

const HELLO = "export const meta = { name: 'hello', description: 'one call' }\nreturn await agent('hello')\n";

/** Medians of ten, taken in turn. */
export function startUp(folder) {
  writeFileSync(join(folder, 'hello.js'), HELLO);
  const commands = {
    node: () => timeNode(folder, '-e', '0'),
    version: () => timeWf(folder, '--version'),
    hello: () => timeWf(folder, 'run', 'hello.js', '--backend', 'mock', '-q'),
  };
  const times = { node: [], version: [], hello: [] };
  for (let i = 0; i < 11; i++) {
    for (const [name, time] of Object.entries(commands)) {
      const ms = time();
      if (i > 0) times[name].push(ms);
    }
  }
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
