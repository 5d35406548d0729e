import { checkWorkflowFile, type ScriptFault } from '../../index.js';
import { oneLine } from '../../shared/one-line.js';
import { showPath } from '../../shared/quote-word.js';

/** `wf check`: exit 2 when a run would refuse one of the scripts. */
export async function check(scripts: string[], flags: { json?: boolean }): Promise<number> {
  const faults: ScriptFault[] = [];
  for (const script of scripts) faults.push(...(await checkWorkflowFile(script)));
  const refused = faults.some((fault) => fault.severity === 'error');
  if (flags.json) process.stdout.write(`${JSON.stringify(faults.map(toRow), null, 2)}\n`);
  else {
    for (const fault of faults) {
      process.stdout.write(
        `${showPath(fault.file)}:${fault.line}:${fault.column}: ${fault.severity} ${fault.code}: ${oneLine(fault.message)}\n`,
      );
      if (fault.frame !== undefined) process.stdout.write(`${fault.frame.trimEnd()}\n`);
      if (fault.remedy !== undefined) process.stdout.write(`  → ${oneLine(fault.remedy)}\n`);
      if (process.env.GITHUB_ACTIONS === 'true') process.stdout.write(annotate(fault));
    }
    if (faults.length === 0)
      process.stdout.write(
        `${scripts.length === 1 ? '1 script' : `${scripts.length} scripts`} checked: nothing to say.\n`,
      );
  }
  return refused ? 2 : 0;
}

const toRow = ({ file, line, column, code, message, severity }: ScriptFault): object => ({
  file,
  line,
  column,
  code,
  message,
  severity,
});

const escapeData = (text: string): string => text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');

function annotate(fault: ScriptFault): string {
  return `::${fault.severity} file=${escapeData(fault.file)},line=${fault.line},col=${fault.column},title=${fault.code}::${escapeData(fault.message)}\n`;
}
