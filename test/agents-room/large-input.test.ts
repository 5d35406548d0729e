/** A program gets its prompt whole or not at all, however large it is and whenever the engine dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCommandBackend } from '../../src/agents/command/command-backend.js';
import { executeCall } from '../../src/agents/execute-call.js';
import { ONE_WRITE } from '../../src/agents/input-file.js';
import { waitFor } from '../support/wait.js';
import { makeContext, makePolicy, makeRequest } from './call-kit.js';

let folder: string;
const engines: ChildProcess[] = [];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'wf-input-')));
});
afterEach(() => {
  for (const engine of engines.splice(0)) engine.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const ROOT = join(import.meta.dirname, '..', '..');
const source = (file: string): string => JSON.stringify(pathToFileURL(join(ROOT, file)).href);
const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');

/** A program that tells its pid, waits for `go`, and writes down what it then reads to the end. */
function writeReader(): string {
  const path = join(folder, 'reader.mjs');
  writeFileSync(
    path,
    `#!${process.execPath}
import { existsSync, readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
const folder = ${JSON.stringify(folder)};
const read = () => {
  if (!existsSync(folder + '/go')) return;
  watcher.close();
  const input = [];
  process.stdin.on('data', (chunk) => input.push(chunk)).on('end', () => {
    writeFileSync(folder + '/got.new', Buffer.concat(input));
    renameSync(folder + '/got.new', folder + '/got');
    process.exit(0);
  });
};
const watcher = watch(folder, read);
writeFileSync(folder + '/started', String(process.pid));
read();
`,
  );
  chmodSync(path, 0o755);
  return path;
}

/** A process that hands a prompt to the reader, says so, and does nothing else; it has no guard. */
async function startEngine(make: string, prompt: string): Promise<ChildProcess> {
  writeFileSync(join(folder, 'prompt'), prompt);
  const file = join(folder, 'engine.mjs');
  writeFileSync(
    file,
    `import { readFileSync, writeFileSync } from 'node:fs';
const { createCommandBackend } = await import(${source('src/agents/command/command-backend.ts')});
const { createCodexBackend } = await import(${source('src/agents/codex/codex-backend.ts')});
const { makeContext, makeRequest } = await import(${source('test/agents-room/call-kit.ts')});
const backend = ${make};
const request = makeRequest({ cwd: ${JSON.stringify(folder)}, prompt: readFileSync(${JSON.stringify(join(folder, 'prompt'))}, 'utf8') });
const context = makeContext({ onProcess: () => setImmediate(() => writeFileSync(${JSON.stringify(join(folder, 'handed'))}, '')) });
backend.run(request, { ...context, graceMs: 0, maxAnswerBytes: 1e9, onCallEnd() {} });
`,
  );
  const hooks = pathToFileURL(join(ROOT, 'test', 'support', 'source-hooks.mjs')).href;
  const engine = spawn(process.execPath, ['--import', hooks, file], { stdio: ['ignore', 'ignore', 'inherit'] });
  engines.push(engine);
  await waitFor('the prompt to be handed over', () =>
    ['started', 'handed'].every((name) => existsSync(join(folder, name))),
  );
  return engine;
}

const BACKENDS: [string, (reader: string) => string][] = [
  ['command', (reader) => `createCommandBackend({ argv: [${JSON.stringify(reader)}] })`],
  ['codex', (reader) => `createCodexBackend({ settings: { executable: ${JSON.stringify(reader)} } })`],
];

describe.each(BACKENDS)('%s: the engine is killed before the program reads', (_name, make) => {
  test.each([
    ['as large as what is written in one go', ONE_WRITE],
    ['a byte larger', ONE_WRITE + 1],
    ['of 5 MB', 5_000_000],
  ])('a prompt %s is whole', async (_what, bytes) => {
    const prompt = 'äb→c'.repeat(Math.ceil(bytes / 7)).slice(0, Math.floor(bytes / 7) * 4) + 'x'.repeat(bytes % 7);
    expect(Buffer.byteLength(prompt)).toBe(bytes);
    const engine = await startEngine(make(writeReader()), prompt);
    const gone = once(engine, 'exit');
    engine.kill('SIGKILL');
    await gone;
    writeFileSync(join(folder, 'go'), '');
    await waitFor('what the program has read', () => existsSync(join(folder, 'got')));
    expect(sha256(readFileSync(join(folder, 'got')))).toBe(sha256(prompt));
  });
});

describe('a prompt larger than what is written in one go', () => {
  const large = `first ${'äb→c'.repeat(20_000)} last`;
  const run = (script: string, prompt = large, context = makeContext()) =>
    executeCall(
      createCommandBackend({ argv: ['sh', '-c', script], env: { PATH: process.env.PATH } }),
      makeRequest({ cwd: folder, prompt }),
      makePolicy({ retries: 0 }),
      context,
    );
  const withTemp = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = path;
    try {
      return await work();
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  };

  test('is a file for this user alone and without a name; a smaller one comes through a pipe', async () => {
    const script = `stat -L -c '%F, %a, %h links' /dev/stdin; ls -A ${folder}`;
    const told = (prompt: string) => withTemp(folder, () => run(script, prompt));
    expect(await told(large)).toMatchObject({ output: JSON.stringify('regular file, 600, 0 links') });
    expect(await told('x'.repeat(ONE_WRITE))).toMatchObject({ output: expect.stringMatching(/^"(socket|fifo), /) });
  });

  test('goes through the pipe where the temp folder cannot hold it', async () => {
    const outcome = await withTemp(join(folder, 'nowhere'), () => run('cat'));
    expect(outcome).toMatchObject({ kind: 'ok', output: JSON.stringify(large) });
  });

  test('leaves no file descriptor, whatever becomes of the program', async () => {
    const descriptors = () => readdirSync('/proc/self/fd').length;
    await run('cat');
    const before = descriptors();
    const scripts = ['cat', 'exit 3', 'kill -9 $$', 'echo unread'];
    await Promise.all(Array.from({ length: 24 }, (_, i) => run(scripts[i % scripts.length] as string)));
    const nowhere = createCommandBackend({ argv: ['/nowhere/agent'] });
    const request = makeRequest({ cwd: folder, prompt: large });
    expect(await executeCall(nowhere, request, makePolicy(), makeContext())).toMatchObject({ kind: 'failed' });
    const stopped = makeContext();
    const outcome = run('echo $$ > pid; cat > /dev/null; sleep 60', large, stopped);
    await waitFor('the program', () => existsSync(join(folder, 'pid')));
    stopped.controller.abort();
    expect(await outcome).toMatchObject({ kind: 'cancelled' });
    await waitFor('closed descriptors', () => descriptors() <= before);
  });
});
