import { cleanFrame } from '../report/clean-line.js';
import { messageOf, WfError } from '../shared/errors.js';
import { showPath } from '../shared/quote-word.js';
import { showMessage } from './show-message.js';

/** Prints what happened, where, and what to do; stack traces of `wf` itself only when asked for. */
export function showError(error: unknown, options: { verbose: boolean }): void {
  process.stderr.write(describeError(error, options.verbose));
}

/** The text of an error for people, with its line end. */
export function describeError(error: unknown, verbose: boolean): string {
  if (!WfError.is(error)) {
    const remedy = verbose ? 'Report this.' : 'Run it again with -v to see where, and report that.';
    const stack = error instanceof Error && verbose ? `${showMessage(error.stack ?? '')}\n` : '';
    return `wf: WF_INTERNAL: A fault in wf itself: ${showMessage(messageOf(error))}\n  → ${remedy}\n${stack}`;
  }
  let text = '';
  for (const fault of [error, ...error.others]) {
    const { place } = fault;
    const where =
      place?.file === undefined
        ? ''
        : ` ${showPath(place.file)}${place.line === undefined ? '' : `:${place.line}:${place.column ?? 1}`}`;
    text += `wf: ${fault.code}${where}: ${showMessage(fault.message, place?.file)}\n`;
    if (place?.frame !== undefined) text += `${cleanFrame(place.frame).join('\n').trimEnd()}\n`;
    if (fault.remedy !== undefined) text += `  → ${showMessage(fault.remedy, place?.file)}\n`;
  }
  if (verbose) text += `${showMessage(error.stack ?? '', error.place?.file)}\n`;
  return text;
}

/** The same as a line for a program that reads the events of a run from stderr. */
export function describeErrorEvent(error: unknown): string {
  const told = WfError.is(error) ? error : new WfError('WF_INTERNAL', messageOf(error));
  const event = { t: new Date().toISOString(), type: 'error', ...told.toRecord(), remedy: told.remedy };
  return `${JSON.stringify(event)}\n`;
}

/** The same for a program that asked for `--json` and reads stdout: one line. */
export function printErrorJson(error: unknown): void {
  const tell = (fault: WfError): object => ({ ...fault.toRecord(), remedy: fault.remedy, exitCode: fault.exitCode });
  const told = WfError.is(error)
    ? { ...tell(error), ...(error.others.length === 0 ? {} : { others: error.others.map(tell) }) }
    : tell(new WfError('WF_INTERNAL', messageOf(error)));
  process.stdout.write(`${JSON.stringify({ error: told })}\n`);
}
