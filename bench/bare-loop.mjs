import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs `count` calls through the bare sandbox; ms from the first call to the end. */
export function bareLoop(addon, body, answer) {
  const child = spawn(
    process.execPath,
    [
      '--no-node-snapshot',
      fileURLToPath(new URL('./bare-sandbox.cjs', import.meta.url)),
      addon,
      `(async () => {${body}})`,
    ],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    },
  );
  const pipe = child.stdio[3];
  return new Promise((resolve, reject) => {
    let started;
    let carry = '';
    let batch = [];
    pipe.setEncoding('utf8');
    pipe.on('data', (text) => {
      started ??= performance.now();
      const lines = (carry + text).split('\n');
      carry = lines.pop();
      for (const line of lines) {
        const space = line.indexOf(' ');
        const id = Number(line.slice(0, space));
        const value = JSON.parse(line.slice(space + 1));
        if (id === 0) {
          resolve(performance.now() - started);
          child.kill('SIGKILL');
          return;
        }
        const bytes = Buffer.from(JSON.stringify(answer(value)));
        const head = Buffer.alloc(8);
        head.writeUInt32LE(id, 0);
        head.writeUInt32LE(bytes.length, 4);
        batch.push(head, bytes);
      }
      if (batch.length > 0) pipe.write(Buffer.concat(batch));
      batch = [];
    });
    child.on(
      'exit',
      (code, signal) => signal !== 'SIGKILL' && reject(new Error(`bare sandbox ended: ${code} ${signal}`)),
    );
  });
}
