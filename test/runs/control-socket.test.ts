/** The control socket: who may use it, what a hostile client cannot do, and a run that cannot have one. */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendControl } from '../../src/runs/control-client.js';
import type { ControlCommand, ControlRequest } from '../../src/runs/control-message.js';
import { openControlServer } from '../../src/runs/control-server.js';
import { makeFakeBackend } from '../support/fake-backend.js';
import { runWf, startWf } from '../support/run-wf.js';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { waitFor } from '../support/wait.js';

const RUN_ID = '0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11';
const UID = process.getuid?.() ?? 0;
const FLOW = `export const meta = { name: 'flow', description: 'Made by a test' }
return await agent('do A', { label: 'A' })
`;

async function open(env: Record<string, string | undefined>) {
  const commands: ControlCommand[] = [];
  const server = await openControlServer({
    runId: RUN_ID,
    env,
    act(command) {
      commands.push(command);
      return { ok: true };
    },
  });
  onTestFinished(() => server.close());
  const { address, token } = server.record;
  const request = (change: Partial<ControlRequest> = {}): ControlRequest => ({
    version: 1,
    runId: RUN_ID,
    token,
    command: { verb: 'stop' },
    ...change,
  });
  return {
    server,
    commands,
    address,
    send: (change?: Partial<ControlRequest>) => sendControl(address, UID, request(change)),
  };
}

const connect = (address: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = createConnection(address, () => resolve(socket));
    socket.once('error', reject);
    onTestFinished(() => void socket.destroy());
  });

const closed = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });

describe('control socket', () => {
  it('lies in a folder of its own, 0700, and is gone when it is closed', async () => {
    const { env } = makeProject();
    const { server, address, send, commands } = await open(env);
    expect(address).toBe(join(env.XDG_RUNTIME_DIR as string, `wf-${UID}`, `${RUN_ID}.sock`));
    expect(lstatSync(join(address, '..')).mode & 0o777).toBe(0o700);
    expect(lstatSync(address).mode & 0o777).toBe(0o600);
    expect(await send()).toEqual({ ok: true });
    expect(commands).toEqual([{ verb: 'stop' }]);
    server.close();
    expect(existsSync(address)).toBe(false);
    await expect(send()).rejects.toThrow(/ENOENT/);
  });

  it.each<[string, unknown]>([
    ['another token', { token: 'x' }],
    ['no token', { token: undefined }],
    ['another run', { runId: RUN_ID.replace('0b', '0c') }],
    ['an unknown verb', { command: { verb: 'erase' } }],
    ['a newer version', { version: 2 }],
  ])('%s: refused, nothing done', async (_, change) => {
    const { send, commands } = await open(makeProject().env);
    expect(await send(change as Partial<ControlRequest>)).toMatchObject({ ok: false, code: 'WF_CONTROL' });
    expect(commands).toEqual([]);
  });

  it("clients that say nothing, too much or rubbish, and many of them, are in nobody's way", async () => {
    const { address, send, commands } = await open(makeProject().env);
    const silent = await Promise.all(Array.from({ length: 8 }, () => connect(address)));
    for (const socket of silent.slice(4)) socket.write('{');
    const endless = await connect(address);
    const ended = closed(endless);
    endless.write('x'.repeat(100_000));
    expect(await ended).toBe('');
    const rubbish = await connect(address);
    const answer = closed(rubbish);
    rubbish.write('\u0000{"a":[[[\n');
    expect(JSON.parse(await answer)).toMatchObject({ ok: false, code: 'WF_CONTROL' });
    expect(await send()).toEqual({ ok: true });
    expect(commands).toHaveLength(1);
    // Beyond the number that is served at once a client is let go at once, and places become free again.
    const many = await Promise.all(Array.from({ length: 30 }, () => connect(address)));
    const all = Promise.all([...silent, ...many].map(closed));
    for (const socket of [...silent, ...many]) socket.end();
    await all;
    expect(await send()).toEqual({ ok: true });
  });

  it('a folder that is not ours alone is never used: the temp folder comes next, then there is none', async () => {
    const project = makeProject();
    const { XDG_RUNTIME_DIR = '', TMPDIR = '' } = project.env;
    const folder = join(XDG_RUNTIME_DIR, `wf-${UID}`);
    const elsewhere = join(project.root, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, folder);
    const { address } = await open(project.env);
    expect(address).toBe(join(TMPDIR, `wf-${UID}`, `${RUN_ID}.sock`));
    expect(readdirSync(elsewhere)).toEqual([]);
    writeFileSync(join(project.root, 'no-folder'), '');
    const bad = { XDG_RUNTIME_DIR, TMPDIR: join(project.root, 'no-folder') };
    await expect(openControlServer({ runId: RUN_ID, env: bad, act: () => ({ ok: true }) })).rejects.toThrow(
      /it is no folder; .*ENOTDIR/,
    );
  });

  it('a folder of another user is refused by the owner and by the client', async (context) => {
    context.skip(UID !== 0, 'only root can give a folder away');
    const project = makeProject();
    const { XDG_RUNTIME_DIR = '' } = project.env;
    const folder = join(XDG_RUNTIME_DIR, `wf-${UID}`);
    const { address, send } = await open(project.env);
    chownSync(folder, 12_345, 12_345);
    await expect(send()).rejects.toThrow(/belongs to user 12345/);
    const env = { XDG_RUNTIME_DIR, TMPDIR: XDG_RUNTIME_DIR };
    await expect(openControlServer({ runId: RUN_ID, env, act: () => ({ ok: true }) })).rejects.toThrow(
      /belongs to user 12345, not to 0/,
    );
    chownSync(folder, UID, UID);
    chmodSync(folder, 0o770);
    await expect(sendControl(address, UID, {} as ControlRequest)).rejects.toThrow(/others may use it \(mode 770\)/);
    chmodSync(folder, 0o700);
    chmodSync(XDG_RUNTIME_DIR, 0o777);
    await expect(openControlServer({ runId: RUN_ID, env, act: () => ({ ok: true }) })).rejects.toThrow(
      /others may replace it/,
    );
    chmodSync(XDG_RUNTIME_DIR, 0o1777);
    expect(await send()).toEqual({ ok: true });
  });
});

describe('a run and its socket', () => {
  const recordOf = (project: TestProject) => {
    const [id = ''] = project.runIds();
    return JSON.parse(readFileSync(join(project.runDir(id), 'run.json'), 'utf8'));
  };

  it('has it while it lives, also where a dead run left one of that name; a silent client does not hold it', async () => {
    const project = makeProject({ files: { 'flow.js': FLOW } });
    const backend = makeFakeBackend(project, { gated: ['A'] });
    const folder = join(project.env.XDG_RUNTIME_DIR as string, `wf-${UID}`);
    mkdirSync(folder, { mode: 0o755 });
    writeFileSync(join(folder, `${RUN_ID}.sock`), 'left over');
    const run = startWf(['run', 'flow.js', '--run-id', RUN_ID, ...backend.flags], { project });
    await backend.waitForStart('A');
    const control = await waitFor('the socket', () => recordOf(project).control);
    expect(control).toEqual({ address: join(folder, `${RUN_ID}.sock`), token: expect.stringMatching(/^[\w-]{43}$/) });
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    const silent = await connect(control.address);
    const gone = closed(silent);
    backend.openAllGates();
    expect(await run.done).toMatchObject({ code: 0 });
    await gone;
    expect(readdirSync(folder)).toEqual([]);
    expect(recordOf(project)).toMatchObject({ status: 'completed', control: null });
  });

  it.each<[string, (project: TestProject) => Record<string, string>, RegExp]>([
    [
      'paths that are too long',
      (project) => {
        const long = join(project.root, 'x'.repeat(80));
        mkdirSync(long);
        return { XDG_RUNTIME_DIR: long, TMPDIR: long };
      },
      /longer than the \d+ bytes/,
    ],
    [
      'a temp folder that is none',
      (project) => {
        const file = join(project.root, 'no-folder');
        writeFileSync(file, '');
        return { XDG_RUNTIME_DIR: file, TMPDIR: file };
      },
      /ENOTDIR/,
    ],
  ])('with %s: one warning, and the run goes on', async (_, makeEnv, words) => {
    const project = makeProject({ files: { 'flow.js': FLOW } });
    const backend = makeFakeBackend(project, { gated: ['A'] });
    const run = startWf(['run', 'flow.js', ...backend.flags], { project, env: makeEnv(project) });
    await run.waitForStderr(/WF_CONTROL/);
    await backend.waitForStart('A');
    const [id = ''] = project.runIds();
    const stop = await runWf(['stop', id], { project });
    expect(stop.code).toBe(2);
    expect(stop.stderr).toMatch(new RegExp(`WF_CONTROL.*has no control socket[\\s\\S]*kill -INT ${run.pid}`));
    backend.openAllGates();
    const ended = await run.done;
    expect(ended.code).toBe(0);
    expect(ended.stderr.match(/WF_CONTROL.*/g)).toEqual([expect.stringMatching(words)]);
  });
});
