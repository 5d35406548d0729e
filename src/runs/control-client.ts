/** The other end of a control socket: asks the owner of a run for one thing. */
import { dirname } from 'node:path';
import { createConnection } from 'node:net';
import { distrust } from './control-folder.js';
import {
  CONTROL_TIMEOUT_MS,
  type ControlReply,
  type ControlRequest,
  MAX_LINE_BYTES,
  replySchema,
} from './control-message.js';

/**
 * Sends one request and gives the owner's reply.
 *
 * @param uid user that the run belongs to
 * @throws Error with the reason when nobody answers as the owner would
 */
export function sendControl(address: string, uid: number, request: ControlRequest): Promise<ControlReply> {
  // The token goes only to where nobody but the run's own user can listen.
  const reason = distrust(dirname(address), uid);
  if (reason !== undefined) return Promise.reject(new Error(`${dirname(address)} is not safe: ${reason}`));
  return new Promise((resolve, reject) => {
    const socket = createConnection(address);
    let text = '';
    const timer = setTimeout(
      () => socket.destroy(new Error(`no answer within ${CONTROL_TIMEOUT_MS / 1000} s`)),
      CONTROL_TIMEOUT_MS,
    );
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_LINE_BYTES * 4) socket.destroy(new Error('the answer is too long'));
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(timer);
      const reply = readReply(text);
      if (reply === undefined) reject(new Error('it gave no answer that can be read'));
      else resolve(reply);
    });
  });
}

function readReply(text: string): ControlReply | undefined {
  try {
    return replySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
