import { cleanLine } from '../../report/clean-line.js';
import { type DoctorFinding, type DoctorReport, runDoctor } from '../../index.js';
import { EXIT } from '../../shared/errors.js';
import { leaveOnSignals } from '../handle-signals.js';
import { tellSlowSteps } from '../slow-steps.js';

/** `wf doctor`: 0 when nothing is wrong or all was mended, 4 when a person should look, 2 when runs cannot start here. */
export async function doctor(flags: { fix?: boolean; json?: boolean; runsDir?: string }): Promise<number> {
  // Programs that are asked for their version have sessions of their own: no Ctrl-C reaches them.
  leaveOnSignals();
  const { onStep, close } = tellSlowSteps();
  const report = await runDoctor({ fix: flags.fix, runsDir: flags.runsDir, onStep }).finally(close);
  process.stdout.write(flags.json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
  return { ok: EXIT.ok, note: EXIT.ok, warn: EXIT.personDecides, fault: EXIT.notStarted }[report.status];
}

function describe({ findings }: DoctorReport): string {
  let text = '';
  let title = '';
  for (const finding of findings) {
    if (finding.title !== title) text += `${finding.title}\n`;
    title = finding.title;
    text += describeFinding(finding);
  }
  return `${text}\n${summarise(findings)}\n`;
}

function describeFinding({ status, message, remedy, fixed, fixError }: DoctorFinding): string {
  let text = `  ${status.padEnd(5)} ${cleanLine(message)}\n`;
  if (fixed !== null) text += `        mended: ${cleanLine(fixed)}\n`;
  else if (fixError !== undefined) text += `        not mended: ${cleanLine(fixError)}\n`;
  if (fixed === null && remedy !== null && remedy !== '') text += `        → ${cleanLine(remedy)}\n`;
  return text;
}

function summarise(findings: readonly DoctorFinding[]): string {
  const left = findings.filter((finding) => finding.fixed === null);
  const count = (status: string, word: string): string => {
    const found = left.filter((finding) => finding.status === status).length;
    return `${found} ${word}${found === 1 ? '' : 's'}`;
  };
  const mended = findings.length - left.length;
  const words = [count('fault', 'fault'), count('warn', 'warning'), count('note', 'note')].join(', ');
  const fixable = left.filter((finding) => finding.fixable && finding.fixError === undefined).length;
  if (mended > 0) return `${words}; ${mended} mended.`;
  return fixable > 0 ? `${words}; wf doctor --fix can mend ${fixable}.` : `${words}.`;
}
