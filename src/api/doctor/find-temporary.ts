/**
 * What a killed `wf` left in the temp folder: files with the schema of a call, and runs of `wf test`. Whose they are is told
 * by the owner on record, never by a name: only one that is dead for certain leaves something.
 */
import { rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSchemaFileOf } from '../../agents/schema-file.js';
import { distrust } from '../../runs/control-folder.js';
import { ownerState } from '../../runs/owner.js';
import { readRecordFile } from '../../runs/record-file.js';
import { ownerSchema } from '../../runs/records.js';
import { isTestFolder, TEST_OWNER_FILE } from '../test/test-folder.js';
import type { DoctorContext, DoctorRun, Finding } from './finding.js';
import { lookAt } from '../../runs/runs-folder.js';
import { namesIn } from './names-in.js';

/** Younger than this, ms, a folder may still get its owner, or have one elsewhere. */
const SETTLED_MS = 3_600_000;

/** Schema files of runs that are over. */
export function findSchemaFiles({ runs, places: { env } }: DoctorContext): { path: string; runId: string }[] {
  const folder = tempFolder(env);
  const names = namesIn(folder).filter((name) => name.startsWith('wf-schema-'));
  if (names.length === 0) return [];
  const uid = process.getuid?.() ?? -1;
  return runs
    .filter(isOver)
    .flatMap(({ runId }) =>
      names.flatMap((name) => (isSchemaFileOf(runId, name) ? [{ path: join(folder, name), runId }] : [])),
    )
    .filter(({ path }) => {
      const stat = lookAt(path);
      return stat?.isFile() === true && stat.uid === uid;
    });
}

const tempFolder = (env: DoctorContext['places']['env']): string => env.TMPDIR || tmpdir();

/** Nobody works for it any more: it has recorded its end, or its process is seen to be gone. */
const isOver = ({ observed: { record, ownerState: life } }: DoctorRun): boolean =>
  record !== null && (record.owner === null || (life?.state === 'dead' && life.basis === 'process'));

/** Only folders that are ours alone. */
export function findTestFolders({ places: { env }, now }: DoctorContext): Finding[] {
  const parent = tempFolder(env);
  const uid = process.getuid?.() ?? -1;
  return namesIn(parent)
    .filter(isTestFolder)
    .map((name) => join(parent, name))
    .filter((path) => distrust(path, uid) === undefined)
    .flatMap((path) => judgeTestFolder(path, now) ?? []);
}

function judgeTestFolder(path: string, now: number): Finding | undefined {
  const about = { status: 'note', path } as const;
  const file = readRecordFile(join(path, TEST_OWNER_FILE));
  const owner = ownerSchema.safeParse(file.kind === 'json' ? file.value : undefined).data;
  if (owner === undefined) {
    // Killed before it could say whose it is. With anything in it, it may be somebody's own.
    const isBare = namesIn(path).every((name) => name === TEST_OWNER_FILE && file.kind === 'bad');
    if (!isBare || now - (lookAt(path)?.mtimeMs ?? now) < SETTLED_MS) return undefined;
    return {
      ...about,
      message: `${path} was begun by a wf test that is gone.`,
      remedy: REMOVES,
      fix: () => removeBare(path),
    };
  }
  const life = ownerState(owner, now);
  if (life.state === 'alive') return undefined;
  const message = `${path} holds runs of a wf test, and ${life.reason}.`;
  if (life.basis === 'process') return { ...about, message, remedy: REMOVES, fix: () => removeAll(path) };
  if (now - Date.parse(owner.heartbeat) < SETTLED_MS) return undefined;
  return {
    ...about,
    message,
    remedy: 'From here nobody can say that it is dead. If no wf test is going on, remove it by hand.',
  };
}

const REMOVES = 'Nobody reads it. --fix removes it.';

function removeAll(path: string): string {
  rmSync(path, { recursive: true, force: true });
  return 'removed it';
}

/** Never takes anything along that came into it since. */
function removeBare(path: string): string {
  rmSync(join(path, TEST_OWNER_FILE), { force: true });
  rmdirSync(path);
  return 'removed it';
}
