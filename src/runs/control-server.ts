/**
 * The owner's end of a control socket. It belongs to whoever can read `run.json`: the folder is 0700, and the token is
 * asked for. A client can neither hold the process nor fill it: few at once, short lines, and a time limit for each.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { messageOf, WfError } from '../shared/errors.js';
import { prepareControlPath } from './control-folder.js';
import {
  CONTROL_TIMEOUT_MS,
  type ControlCommand,
  type ControlReply,
  isSameToken,
  MAX_LINE_BYTES,
  requestSchema,
} from './control-message.js';

const MAX_CLIENTS = 16;

export interface ControlServer {
  /** For `run.json`. */
  readonly record: { address: string; token: string };
  close(): void;
}

export interface ControlServerOptions {
  runId: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Acts on a command of somebody who may give one. A `WfError` is told to them. */
  act(command: ControlCommand): Extract<ControlReply, { ok: true }>;
}

/**
 * Opens the control socket of a run. It does not keep the process alive.
 *
 * @throws Error with the reason when there is no safe place for it, or the system refuses it
 */
export async function openControlServer(options: ControlServerOptions): Promise<ControlServer> {
  const place = prepareControlPath(options.runId, options.env);
  if ('reason' in place) throw new Error(place.reason);
  const address = place.path;
  const token = randomBytes(32).toString('base64url');
  const clients = new Set<Socket>();
  const server = createServer((socket) => serve(socket, clients, (line) => answer(line, token, options)));
  server.maxConnections = MAX_CLIENTS;
  // Ids are never used twice: what stands there is left over from a dead process.
  rmSync(address, { force: true });
  await listen(server, address);
  server.unref();
  server.on('error', () => {});
  chmodSync(address, 0o600);
  return {
    record: { address, token },
    close() {
      server.close();
      for (const client of clients) client.destroy();
      rmSync(address, { force: true });
    },
  };
}

function listen(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function serve(socket: Socket, clients: Set<Socket>, reply: (line: string) => ControlReply): void {
  clients.add(socket);
  socket.unref();
  // Not an idle limit: somebody who sends a byte now and then is let go too.
  const timer = setTimeout(() => socket.destroy(), CONTROL_TIMEOUT_MS).unref();
  socket.on('error', () => {});
  socket.on('close', () => {
    clearTimeout(timer);
    clients.delete(socket);
  });
  let text = '';
  const onData = (chunk: string): void => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end < 0 && text.length <= MAX_LINE_BYTES) return;
    socket.off('data', onData);
    if (end < 0 || end > MAX_LINE_BYTES) return void socket.destroy();
    socket.end(`${JSON.stringify(reply(text.slice(0, end)))}\n`, () => socket.destroy());
  };
  socket.setEncoding('utf8').on('data', onData);
}

function answer(line: string, token: string, options: ControlServerOptions): ControlReply {
  const refuse = (message: string): ControlReply => ({ ok: false, code: 'WF_CONTROL', message });
  try {
    const parsed = requestSchema.safeParse(JSON.parse(line));
    if (!parsed.success) return refuse('The request is not one that this version of wf understands.');
    const { runId, token: given, command } = parsed.data;
    if (!isSameToken(given, token) || runId !== options.runId)
      return refuse('The request does not hold the token of this run.');
    return options.act(command);
  } catch (error) {
    if (!WfError.is(error)) return refuse(`The request could not be carried out: ${messageOf(error)}`);
    const { code, message, remedy } = error;
    return { ok: false, code, message, ...(remedy === undefined ? {} : { remedy }) };
  }
}
