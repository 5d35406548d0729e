import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';

/**
 * Runs the calls of `body` through the bare sandbox; ms from the first call to the end.
 *
 * @param file when given, the loop also does what no journal can do without: it hashes each prompt, and writes prompt and
 *   answer as one checked line to this file before the answer goes back, all lines of one batch in one write
 */
export function bareLoop(addon, body, answer, file) {
  const journal = file === undefined ? undefined : openSync(file, 'a');
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
    let kept = '';
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
          if (journal !== undefined) closeSync(journal);
          resolve(performance.now() - started);
          child.kill('SIGKILL');
          return;
        }
        const json = JSON.stringify(answer(value));
        if (journal !== undefined) kept += checkedLine(JSON.stringify(value), json);
        const bytes = Buffer.from(json);
        const head = Buffer.alloc(8);
        head.writeUInt32LE(id, 0);
        head.writeUInt32LE(bytes.length, 4);
        batch.push(head, bytes);
      }
      if (kept !== '') writeSync(journal, kept);
      kept = '';
      if (batch.length > 0) pipe.write(Buffer.concat(batch));
      batch = [];
    });
    child.on(
      'exit',
      (code, signal) => signal !== 'SIGKILL' && reject(new Error(`bare sandbox ended: ${code} ${signal}`)),
    );
  });
}

function checkedLine(promptJson, json) {
  const text = `{"key":"${hash('sha256', promptJson, 'hex')}","output":${json},"prompt":${promptJson}`;
  return `${text},"sum":"${crc32(text).toString(16)}"}\n`;
}
