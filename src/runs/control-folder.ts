/**
 * Where control sockets lie: `wf-<uid>` in `$XDG_RUNTIME_DIR`, else in the temp folder. Everybody may write to the latter,
 * so a folder is taken only when it is ours and nobody else can get into it.
 */
import { chmodSync, lstatSync, mkdirSync, type Stats } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, systemCode } from '../shared/errors.js';

/** Bytes of a socket's path with the zero at its end: 108 on Linux, 104 on the BSDs and macOS. */
const MAX_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

export type ControlPlace = { path: string } | { reason: string };

/** Makes the folder where it is missing, and names the socket of a run in it. */
export function prepareControlPath(runId: string, env: Readonly<Record<string, string | undefined>>): ControlPlace {
  const uid = process.getuid?.();
  if (uid === undefined) return { reason: 'this system has no user ids' };
  const reasons: string[] = [];
  for (const parent of new Set([env.XDG_RUNTIME_DIR, env.TMPDIR || tmpdir()])) {
    if (!parent?.startsWith('/')) continue;
    const folder = join(parent, `wf-${uid}`);
    const path = join(folder, `${runId}.sock`);
    const reason =
      Buffer.byteLength(path) > MAX_PATH_BYTES
        ? `its path is longer than the ${MAX_PATH_BYTES} bytes that a socket may have`
        : makeTrusted(folder, uid);
    if (reason === undefined) return { path };
    reasons.push(`${folder}: ${reason}`);
  }
  return { reason: reasons.join('; ') || 'there is no temp folder' };
}

function makeTrusted(folder: string, uid: number): string | undefined {
  try {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    const stat = lstatSync(folder);
    if (stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return distrust(folder, uid);
  } catch (error) {
    return messageOf(error);
  }
}

/** Why a folder of sockets is not safe to use; `undefined` when it is. */
export function distrust(folder: string, uid: number): string | undefined {
  let stat: Stats;
  let parent: Stats;
  try {
    stat = lstatSync(folder);
    parent = lstatSync(dirname(folder));
  } catch (error) {
    return messageOf(error);
  }
  if (!stat.isDirectory()) return 'it is no folder';
  if (stat.uid !== uid) return `it belongs to user ${stat.uid}, not to ${uid}`;
  if ((stat.mode & 0o077) !== 0) return `others may use it (mode ${(stat.mode & 0o777).toString(8)})`;
  // Whoever may rename it could put another one in its place.
  const isOpen = (parent.mode & 0o022) !== 0 && (parent.mode & 0o1000) === 0;
  if (isOpen) return 'others may replace it, as they may write to the folder that holds it';
  return undefined;
}
