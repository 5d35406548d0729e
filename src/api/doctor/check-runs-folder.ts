/** Where runs are written: is it there, can it be written, can others read it, and does git leave it alone. */
import { execFileSync } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { messageOf, systemCode } from '../../shared/errors.js';
import { lookAt } from '../../runs/runs-folder.js';
import type { DoctorCheck, DoctorContext, Finding } from './finding.js';
import { statIfThere } from '../../shared/stat-if-there.js';

/** A git that hangs is not waited for, ms. */
const GIT_MS = 10_000;
const ELSEWHERE = 'Make it writable, or name another folder with --runs-dir or WF_RUNS_DIR.';

export const checkRunsFolder: DoctorCheck = {
  name: 'runs-folder',
  title: 'Runs folder',
  look(context) {
    const { runsFolder } = context.places;
    const stat = statIfThere(runsFolder);
    if (stat === undefined) return [lookAtPlace(runsFolder)];
    if (!stat.isDirectory()) {
      return [{ status: 'fault', message: `${runsFolder} is not a folder.`, remedy: ELSEWHERE, path: runsFolder }];
    }
    const refused = whyNotWritable(runsFolder);
    const first: Finding =
      refused === undefined
        ? { status: 'ok', message: `${runsFolder} is writable and holds ${countRuns(context)}.`, path: runsFolder }
        : {
            status: 'fault',
            message: `${runsFolder} cannot be written: ${refused}.`,
            remedy: ELSEWHERE,
            path: runsFolder,
          };
    return [first, ...lookAtDoor(runsFolder, stat.mode), ...lookAtModes(context), ...lookAtGit(context)];
  },
};

const countRuns = ({ runs }: DoctorContext): string => `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`;

/** No run was made yet. The first one makes the folder, if it may. */
function lookAtPlace(runsFolder: string): Finding {
  let folder = dirname(runsFolder);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  const refused = whyNotWritable(folder);
  if (refused === undefined) {
    return { status: 'ok', message: `${runsFolder} is not there yet; the first run makes it.`, path: runsFolder };
  }
  return {
    status: 'fault',
    message: `${runsFolder} is not there, and cannot be made in ${folder}: ${refused}.`,
    remedy: ELSEWHERE,
    path: folder,
  };
}

function whyNotWritable(folder: string): string | undefined {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const WRITE_OF_OTHERS = 0o022;
/** As of /tmp: what lies in it is safe from everybody but its owner. */
const STICKY = 0o1000;

/** Who may write here can take runs away, or put one in that somebody resumes. */
function lookAtDoor(runsFolder: string, mode: number): Finding[] {
  if ((mode & WRITE_OF_OTHERS) === 0 || (mode & STICKY) !== 0) return [];
  return [
    {
      status: 'warn',
      message: `Other users can write in ${runsFolder} (mode ${(mode & 0o7777).toString(8)}): they could remove runs, or add some.`,
      remedy: `chmod go-w ${runsFolder}`,
      path: runsFolder,
      fix() {
        chmodSync(runsFolder, statSync(runsFolder).mode & 0o7777 & ~WRITE_OF_OTHERS);
        return 'took the permission of other users to write away';
      },
    },
  ];
}

/** Prompts and answers stand in these files; nobody else has any business there. */
function lookAtModes({ runs }: DoctorContext): Finding[] {
  return runs.flatMap(({ runId, folder }) => {
    const open = [folder, ...readdirSync(folder).map((name) => join(folder, name))].filter(isOpen);
    if (open.length === 0) return [];
    return {
      status: 'warn',
      message: `Run ${runId}: ${open.length} of its files or folders can be read or written by other users.`,
      remedy: `chmod -R go= ${folder}`,
      runId,
      path: folder,
      fix() {
        for (const path of open) {
          const mode = lookAt(path)?.mode;
          if (mode !== undefined) chmodSync(path, mode & 0o700);
        }
        return 'took the permissions of other users away';
      },
    } satisfies Finding;
  });
}

/** A link is left out: its own bits mean nothing, and changing them would change what it leads to. */
function isOpen(path: string): boolean {
  const stat = lookAt(path);
  return stat !== undefined && !stat.isSymbolicLink() && (stat.mode & 0o077) !== 0;
}

function lookAtGit({ places: { root, runsFolder } }: DoctorContext): Finding[] {
  const ignore = join(runsFolder, '.gitignore');
  if (existsSync(ignore) || !runsFolder.startsWith(root + sep) || !existsSync(join(root, '.git'))) return [];
  const ignored = isIgnored(root, join(runsFolder, 'run'));
  if (ignored === undefined) {
    const message = `git did not tell within ${GIT_MS / 1000} s whether it ignores ${runsFolder}.`;
    return [{ status: 'warn', message, remedy: `See what holds it up: git status in ${root}.`, path: runsFolder }];
  }
  if (ignored) return [];
  return [
    {
      status: 'warn',
      message: `git does not ignore ${runsFolder}: prompts and answers may be committed.`,
      remedy: `Put a line "*" into ${ignore}.`,
      path: ignore,
      fix() {
        writeFileSync(ignore, '*\n', { mode: 0o600, flag: 'wx' });
        return `made ${ignore}`;
      },
    },
  ];
}

/** `undefined` where git does not come back. */
function isIgnored(root: string, path: string): boolean | undefined {
  try {
    const limit = { timeout: GIT_MS, killSignal: 'SIGKILL' } as const;
    execFileSync('git', ['check-ignore', '-q', path], { cwd: root, stdio: 'ignore', ...limit });
    return true;
  } catch (error) {
    return systemCode(error) === 'ETIMEDOUT' ? undefined : false;
  }
}
