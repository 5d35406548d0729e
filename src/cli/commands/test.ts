import { type CaseReport, type Difference, testWorkflow } from '../../index.js';
import { cleanLine } from '../../report/clean-line.js';
import { EXIT } from '../../shared/errors.js';
import { wayInside } from '../../shared/way-inside.js';

const MAX_SHOWN = 10;
/** Characters of a value. */
const WIDTH = 120;

/** `wf test`: exit 0 when all expectations are met or written, 1 when something differs. */
export async function test(
  script: string,
  flags: { expect?: string; mock?: string; from?: string; update?: boolean; json?: boolean; runsDir?: string },
): Promise<number> {
  const stop = new AbortController();
  // The run ends in order then, and takes its temporary folder with it; a second signal leaves at once.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  const report = await testWorkflow({ script, ...flags, signal: stop.signal });
  const exitCode = report.ok ? EXIT.ok : EXIT.runFailed;
  if (flags.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else
    process.stdout.write(
      `${nameFile(report.file)}\n${report.cases.map(showCase).join('')}${summarize(report.cases)}\n`,
    );
  return exitCode;
}

const nameFile = (file: string): string => cleanLine(wayInside(process.cwd(), file) ?? file);

function showCase({ name, status, differences, calls, madeUp }: CaseReport): string {
  const lines = [`  ${status.padEnd(8)} ${cleanLine(name, WIDTH)} (${calls} ${calls === 1 ? 'call' : 'calls'})`];
  for (const difference of differences.slice(0, MAX_SHOWN)) lines.push(...showDifference(difference));
  if (differences.length > MAX_SHOWN) lines.push(`    … and ${differences.length - MAX_SHOWN} more`);
  if (madeUp.length > 0) {
    const labels = [...new Set(madeUp)].slice(0, 5).join(', ');
    lines.push(
      `    note: no answer was given for ${madeUp.length} of the calls, so it was made up: ${cleanLine(labels, WIDTH)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function showDifference(difference: Difference): string[] {
  const { path, note } = difference;
  const from = firstDifference(difference);
  const show = (side: 'expected' | 'received'): string =>
    `      ${side}  ${Object.hasOwn(difference, side) ? showValue(difference[side], from) : '(nothing)'}`;
  return [
    `    ${cleanLine(path, WIDTH)}`,
    show('expected'),
    show('received'),
    ...(note === undefined ? [] : [`      ${cleanLine(note, 2 * WIDTH)}`]),
  ];
}

/** Long texts are shown from shortly before the first character that differs. */
function firstDifference({ expected, received }: Difference): number {
  if (typeof expected !== 'string' || typeof received !== 'string') return 0;
  let at = 0;
  while (at < expected.length && expected[at] === received[at]) at++;
  return Math.max(expected.length, received.length) <= WIDTH ? 0 : Math.max(0, at - 20);
}

const showValue = (value: unknown, from: number): string =>
  from > 0
    ? `…${cleanLine(JSON.stringify((value as string).slice(from)), WIDTH)}`
    : cleanLine(JSON.stringify(value), WIDTH);

function summarize(cases: readonly CaseReport[]): string {
  const counts = (['met', 'differs', 'written'] as const).flatMap((status) => {
    const count = cases.filter((each) => each.status === status).length;
    return count === 0 ? [] : [`${count} ${status === 'differs' && count > 1 ? 'differ' : status}`];
  });
  return `${cases.length} ${cases.length === 1 ? 'case' : 'cases'}: ${counts.join(', ')}. No agent was asked.`;
}
