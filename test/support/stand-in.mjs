// Stands in for `wf` in the tests of the support code: does one thing, named by its first argument.
import { spawn } from 'node:child_process';

const [what, ...rest] = process.argv.slice(2);
const started = process.hrtime.bigint();

if (what === 'echo') {
  let input = '';
  for await (const part of process.stdin) input += part;
  process.stdout.write(JSON.stringify({ args: rest, input, cwd: process.cwd(), env: process.env }));
  process.stderr.write(`took ${process.hrtime.bigint() - started} ns\n`);
  process.exitCode = 3;
} else if (what === 'wait') {
  process.on('SIGTERM', () => {
    process.stderr.write('asked to stop\n');
    process.exit(143);
  });
  process.stderr.write('ready\n');
  setInterval(() => {}, 60_000);
} else if (what === 'stubborn') {
  process.on('SIGTERM', () => {});
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60000)'], { stdio: 'ignore', detached: true });
  process.stdout.write(`${child.pid}\n`);
  process.stderr.write('ready\n');
  setInterval(() => {}, 60_000);
}
