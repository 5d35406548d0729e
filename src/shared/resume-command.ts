import { quoteWord } from './quote-word.js';

/** The command that goes on from a run, to be copied into a shell as it is. */
export const resumeCommandOf = (runId: string, runsDir?: string, script?: string): string =>
  `wf run ${script === undefined ? '' : `${quoteWord(script)} `}--resume-from ${runId}${runsDirFlag(runsDir)}`;

/** Behind the id of a run in a command: it must find the run where it lies. */
export const runsDirFlag = (runsDir: string | undefined): string =>
  runsDir === undefined ? '' : ` --runs-dir ${quoteWord(runsDir)}`;

const SCRIPT_FAULTS = new Set([
  'WF_SCRIPT_THREW',
  'WF_SCRIPT_SYNTAX',
  'WF_RESULT_NOT_JSON',
  'WF_DEADLOCK',
  'WF_MISUSE',
  'WF_TURN_TIMEOUT',
  'WF_SCRIPT_MEMORY',
  'WF_AGENT_OPTIONS',
  'WF_AGENT_TYPE',
  'WF_SCHEMA_INVALID',
  'WF_NESTING',
  'WF_WORKFLOW_UNKNOWN',
  'WF_WORKFLOW_FAILED',
]);

/**
 * What the script itself or a child of it did wrong is mended in a file, and without the script's name the stored copies of
 * both would run again.
 */
export const isMendedInScript = (cause: string | undefined, failures: readonly FailedCall[] = []): boolean =>
  isScriptFault(cause) || failures.some(({ code, recovered }) => !recovered && isScriptFault(code));

interface FailedCall {
  code: string;
  recovered: boolean;
}

const isScriptFault = (code: string | undefined): boolean => code !== undefined && SCRIPT_FAULTS.has(code);
