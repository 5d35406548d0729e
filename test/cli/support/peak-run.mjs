// One run in a process of its own; prints how it ended and the largest memory that this process had, in MB.
// Arguments: folder, calls, bytes of an answer; or folder, calls, "noise", bytes that each agent prints on stderr.
import { readFileSync } from 'node:fs';
import { defineBackend, startWorkflow } from '../../../dist/index.js';

const [folder, calls, size, noise] = process.argv.slice(2);
const text = 'x'.repeat(Number(size) || 0);
const shell = `yes noise of an agent | head -c ${noise} >&2; printf done`;
const chosen = noise
  ? { backend: 'command', command: ['/bin/sh', '-c', shell] }
  : { backend: defineBackend({ name: 'fast', run: async (request) => ({ text: request.n + text }) }) };
// The script works on each answer for longer than its backend takes to make one.
const source = `export const meta = { name: 'peak', description: 'Many answers' }
let n = 0
const look = (answer) => { for (let k = 0; k < 100000; k++) n += k % 7; return answer.length }
const sizes = await parallel(Array.from({ length: ${calls} }, (_, i) => () => agent('do ' + i).then(look)))
return sizes.length`;
const run = await startWorkflow({
  ...chosen,
  source: { text: source, filename: 'peak.js' },
  ...{ cwd: folder, home: folder, env: { PATH: process.env.PATH }, memoryMb: 512, concurrency: 16, maxAgents: 100_000 },
});
const { status, result, counts } = await run.done;
const peakMb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
console.log(JSON.stringify({ status, result, ok: counts.ok, peakMb }));
