import { planResume } from '../../index.js';
import { cleanLine } from '../../report/clean-line.js';
import { formatSavedTokens, formatUsd } from '../../report/format.js';
import { oneLine } from '../../shared/one-line.js';
import { leaveOnSignals } from '../handle-signals.js';
import { type RunFlags, readRunOptions } from '../run-options.js';

/** `wf plan`: exit 0 whatever it says; nothing is spent and nothing is written. */
export async function plan(
  script: string | undefined,
  flags: RunFlags & { json?: boolean | undefined },
): Promise<number> {
  // It may look for a backend, as a run would: programs that are asked have sessions of their own.
  leaveOnSignals();
  const { notices, ...found } = await planResume(readRunOptions(script, flags));
  for (const notice of notices) process.stderr.write(`wf: ${oneLine(notice)}\n`);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    return 0;
  }
  const later = found.live > 0 ? 'what these lead to is known only once they ran' : 'what comes after is not known yet';
  const rest = found.complete ? '' : `; ${later}`;
  let text = `${found.hits} reused, ${found.live} to run first, ${found.unreached} recorded and not asked for yet${rest}\n`;
  if (found.hits > 0) text += `saved: tokens ${formatSavedTokens(found)}, cost ${formatUsd(found.savedUsd)}\n`;
  for (const call of found.calls) {
    if (call.decision === 'hit' && found.hits > 20) continue;
    text += `  ${`#${call.n}`.padEnd(6)} ${call.decision.padEnd(5)} ${cleanLine(call.label, 60).padEnd(30)} ${cleanLine(call.reason, 300)}\n`;
  }
  if (found.hits > 20) text += `  (the ${found.hits} hits are not listed; --json names them)\n`;
  process.stdout.write(text);
  return 0;
}
