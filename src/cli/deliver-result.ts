/** Puts the result of a run where it was asked for: on stdout, or into a file. */
import { accessSync, constants, existsSync, fstatSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ErrorRecord, RunResult } from '../index.js';
import { writeFileAtomic } from '../shared/atomic-file.js';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { lstatIfThere, statIfThere } from '../shared/stat-if-there.js';

/** stdout, where `undefined` or `-`. */
const isStdout = (output: string | undefined): output is undefined | '-' => output === undefined || output === '-';

/**
 * True where the end of the run can be told after its result is delivered, and so with what became of that. Not with a pipe
 * on stdout: whoever reads it may wait for the end first. Nor for people: the result is the last that they see.
 */
export function isDeliveredFirst(output: string | undefined, isForMachine: boolean): boolean {
  if (!isStdout(output)) return true;
  if (!isForMachine) return false;
  try {
    const stat = fstatSync(1);
    return stat.isFile() || stat.isCharacterDevice();
  } catch {
    return false;
  }
}

/**
 * A string goes raw to stdout, anything else as JSON; no result leaves it empty. A file is always JSON.
 *
 * @returns why it could not be delivered, where that can be seen
 */
export async function deliverResult(result: RunResult, output: string | undefined): Promise<ErrorRecord | undefined> {
  if (!('result' in result)) return undefined;
  try {
    const json = `${JSON.stringify(result.result, null, 2)}\n`;
    if (output === '-') await writeToStdout(json);
    else if (output !== undefined) writeOutput(output, json);
    else await writeToStdout(typeof result.result === 'string' ? endLine(result.result) : json);
    return undefined;
  } catch (error) {
    const place = isStdout(output) ? 'stdout' : output;
    const message = `The result cannot be written to ${place}: ${messageOf(error)}; it is in ${result.folder}/state.json.`;
    return { code: 'WF_OUTPUT', message };
  }
}

const endLine = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

/** A reader that has had enough is no trouble, and a slow one is waited for by the process itself. */
function writeToStdout(text: string): Promise<void> {
  const isWaitedFor = isDeliveredFirst(undefined, true);
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error && systemCode(error) !== 'EPIPE') reject(error);
      else resolve();
    });
    if (!isWaitedFor) resolve();
  });
}

/** Before anything is paid for. */
export function checkOutput(path: string): void {
  if (isStdout(path)) return;
  try {
    if (path === '' || path.endsWith('/')) throw new Error('it names no file');
    if (statIfThere(path)?.isDirectory()) throw new Error('it is a folder');
    const stat = lstatIfThere(path);
    if (stat === undefined || stat.isFile()) accessSync(dirname(path), constants.W_OK);
    else if (existsSync(path)) accessSync(path, constants.W_OK);
  } catch (error) {
    throw new WfError('WF_USAGE', `--output ${path || "''"} cannot be written: ${messageOf(error)}.`, {
      remedy: 'Make its folder first, or name another file.',
    });
  }
}

/** A file is replaced whole; a device, a pipe or a link that stands there is written into and stays what it is. */
function writeOutput(path: string, text: string): void {
  const stat = lstatIfThere(path);
  if (stat === undefined || stat.isFile()) writeFileAtomic(path, text, { mode: 0o644 });
  else writeFileSync(path, text);
}
