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
  for (const alike of groupAlike(findings)) {
    const [first] = alike;
    if (first === undefined) continue;
    if (first.title !== title) text += `${first.title}\n`;
    title = first.title;
    const shown = alike.length > MOST_ALIKE ? alike.slice(0, SHOWN_ALIKE) : alike;
    for (const finding of shown) text += describeFinding(finding);
    const more = alike.length - shown.length;
    if (more > 0) text += `  ${first.status.padEnd(5)} ${more} more like these; --json lists them all.\n`;
  }
  return `${text}\n${summarise(findings)}\n`;
}

/** More notes with one remedy would push everything else off the screen. */
const MOST_ALIKE = 5;
const SHOWN_ALIKE = 3;

/** Notes of one check in a row that have the same remedy are one group; whatever a person should look at stands alone. */
function groupAlike(findings: readonly DoctorFinding[]): DoctorFinding[][] {
  const groups: DoctorFinding[][] = [];
  for (const finding of findings) {
    const group = groups.at(-1);
    const last = group?.[0];
    if (group !== undefined && last !== undefined && isNoteLike(last, finding)) group.push(finding);
    else groups.push([finding]);
  }
  return groups;
}

const isNoteLike = (a: DoctorFinding, b: DoctorFinding): boolean =>
  a.status === 'note' &&
  b.status === 'note' &&
  (['check', 'remedy', 'fixed', 'fixError'] as const).every((field) => a[field] === b[field]);

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
