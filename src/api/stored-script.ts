/** The script that a run executed, as it lies in the run's folder. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { RunRecord } from '../runs/records.js';
import { SCRIPT_FILE } from '../runs/runs-folder.js';
import { messageOf, WfError } from '../shared/errors.js';
import { readRegularFile } from '../shared/regular-file.js';

/**
 * A resume by the id alone executes it without anybody having named it, so it must be the text that ran.
 *
 * @throws WfError `WF_RUN_DAMAGED`
 */
export function readStoredScript(folder: string, { runId, script }: RunRecord): string {
  const path = join(folder, SCRIPT_FILE);
  let text: string;
  try {
    text = readRegularFile(path);
  } catch (error) {
    throw new WfError(
      'WF_RUN_DAMAGED',
      `The stored script of run ${runId} cannot be read (${path}): ${messageOf(error)}.`,
      {
        remedy: 'Name the script: wf run <script> --resume-from <uuid>.',
      },
    );
  }
  if (createHash('sha256').update(text).digest('hex') === script.sha256) return text;
  throw new WfError(
    'WF_RUN_DAMAGED',
    `The stored script of run ${runId} is not the one that ran (${path}): its SHA-256 is not the recorded one.`,
    {
      remedy:
        'Name the script that is meant: wf run <script> --resume-from <uuid>. Answers whose texts are the same are reused.',
    },
  );
}
