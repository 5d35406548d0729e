/** The one question that `wf run` may ask, and only when it was asked to. */
import { createInterface } from 'node:readline';
import type { RunWorkflowOptions } from '../index.js';
import { WfError } from '../shared/errors.js';
import { readCount } from '../shared/read-values.js';
import type { HeldOutput } from './hold-output.js';

/**
 * @param owner the reporter whose format alone may stand on stderr
 * @throws WfError `WF_USAGE` where nobody can be asked
 */
export function readConfirm(
  text: string | undefined,
  output: HeldOutput,
  owner: string | undefined,
): RunWorkflowOptions['confirm'] {
  const above = readCount('--confirm-above', text);
  if (above === undefined) return undefined;
  if (owner !== undefined)
    throw new WfError(
      'WF_USAGE',
      `--confirm-above asks on stderr, where --reporter ${owner} leaves no room for words.`,
      {
        remedy: `Write the report into a file: --reporter ${owner}=<file>.`,
      },
    );
  if (process.stdin.isTTY && process.stderr.isTTY)
    return { above, ask: (calls, signal) => ask(calls, above, signal, output) };
  throw new WfError('WF_USAGE', '--confirm-above asks a question, and this is no terminal.', {
    remedy: 'Limit the run with --max-agents, --budget or --budget-usd instead: they need nobody.',
  });
}

async function ask(calls: number, above: number, signal: AbortSignal, output: HeldOutput): Promise<boolean> {
  // Not as a terminal: Ctrl-C stays a signal, and cancels as always.
  const reader = createInterface({ input: process.stdin, terminal: false });
  output.hold();
  output.writeNow(`wf: this run wants to execute ${calls} calls, more than ${above}. Go on? [y/N] `);
  const answer = await new Promise<string | undefined>((resolve) => {
    reader.once('line', resolve);
    reader.once('close', () => resolve(undefined));
    // An open reader holds the terminal, and the process with it.
    signal.addEventListener('abort', () => reader.close(), { once: true });
  });
  reader.close();
  output.release(answer !== undefined);
  return answer !== undefined && /^y(es)?$/i.test(answer.trim());
}
