/** Control sockets of runs that are gone. A live one takes a connection, also that of a run of another project. */
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { distrust } from '../../runs/control-folder.js';
import { lookAt } from '../../runs/runs-folder.js';
import { systemCode } from '../../shared/errors.js';
import { isRunId } from '../../shared/ids.js';
import type { DoctorCheck, DoctorContext, Finding } from './finding.js';
import { namesIn } from './names-in.js';

const ANSWER_MS = 2_000;

export const checkSockets: DoctorCheck = {
  name: 'sockets',
  title: 'Control sockets',
  async look(context) {
    const live = new Set(
      context.runs.filter(({ observed }) => observed.summary.status === 'running').map(({ runId }) => runId),
    );
    const findings: Finding[] = [];
    for (const { runId, path } of listSockets(context)) {
      if (live.has(runId) || !(await isDeserted(path))) continue;
      findings.push({
        // It may be of another project, and nothing minds it.
        status: 'note',
        message: `${path} is left over: no process listens there.`,
        remedy: 'wf stop and its like ignore it. --fix removes it.',
        runId,
        path,
        async fix() {
          if (!(await isDeserted(path))) return 'somebody listens there now, or it is gone';
          rmSync(path, { force: true });
          return 'removed it';
        },
      });
    }
    return findings.length > 0 ? findings : [{ status: 'ok', message: 'No control socket is left over.' }];
  },
};

/** Only in folders that are ours alone: anywhere else a name proves nothing. */
function listSockets({ places: { env } }: DoctorContext): { runId: string; path: string }[] {
  const uid = process.getuid?.() ?? -1;
  const parents = new Set([env.XDG_RUNTIME_DIR, env.TMPDIR || tmpdir()]);
  return [...parents].flatMap((parent) => {
    if (!parent?.startsWith('/')) return [];
    const folder = join(parent, `wf-${uid}`);
    if (distrust(folder, uid) !== undefined) return [];
    return namesIn(folder)
      .filter((name) => name.endsWith('.sock') && isRunId(name.slice(0, -5)))
      .map((name) => ({ runId: name.slice(0, -5), path: join(folder, name) }));
  });
}

/** True only where the system says that nobody listens. */
function isDeserted(path: string): Promise<boolean> {
  if (lookAt(path)?.isSocket() !== true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(path);
    const end = (deserted: boolean): void => {
      socket.destroy();
      resolve(deserted);
    };
    socket.setTimeout(ANSWER_MS, () => end(false));
    socket.on('connect', () => end(false)).on('error', (error) => end(systemCode(error) === 'ECONNREFUSED'));
  });
}
