import { readFileSync } from 'node:fs';
import { SETTINGS, type SettingKey, type SettingOption } from '../config/settings.js';
import { parseCommandLine, type RunWorkflowOptions } from '../index.js';
import { messageOf, WfError } from '../shared/errors.js';
import { isNewRunId } from '../shared/ids.js';
import { readArgs } from './read-args.js';
import { readChoice, readCount } from '../shared/read-values.js';

/** Flags of `wf run` as commander gives them: a setting by its key in the config. */
export interface RunFlags extends Partial<Record<SettingKey, string>> {
  resumeFrom?: string;
  plan?: boolean;
  match?: string;
  strict?: boolean;
  fork?: boolean;
  runId?: string;
  args?: string;
  argsFile?: string;
  argsText?: string;
  arg?: string[];
  command?: string;
  mock?: string;
  dryRun?: boolean;
  confirmAbove?: string;
  runsDir?: string;
  keep?: string;
  fsync?: string;
  drain?: string;
  reporter?: string[];
  output?: string;
  record?: string;
  quiet?: boolean;
  verbose?: boolean;
  allowFailures?: boolean;
}

/** The library's options for one command line. */
export function readRunOptions(script: string | undefined, flags: RunFlags): RunWorkflowOptions {
  if (script === '-' && flags.argsFile === '-') {
    throw new WfError('WF_USAGE', 'The script and --args-file would both be read from stdin.', {
      remedy: 'Give one of them as a file.',
    });
  }
  const args = readArgs(flags);
  if (flags.runId !== undefined && !isNewRunId(flags.runId)) {
    throw new WfError(
      'WF_RUN_ID',
      `--run-id takes a UUID version 4 in lower case; got ${JSON.stringify(flags.runId.slice(0, 80))}.`,
      { remedy: 'Leave it out for a random one.' },
    );
  }
  if (flags.dryRun && flags.backend !== undefined && flags.backend !== 'mock') {
    throw new WfError('WF_USAGE', '--dry-run runs on mock; it cannot be given together with another --backend.', {
      remedy: 'Leave one of them out.',
    });
  }
  return {
    ...(script === '-' ? { source: { text: readStdin(), filename: 'stdin.js' } } : { script }),
    resumeFrom: flags.resumeFrom,
    match: readChoice('--match', flags.match, ['content', 'prefix']),
    strict: flags.strict,
    fork: flags.fork,
    runId: flags.runId,
    args: args?.value,
    hasArgs: args === undefined ? undefined : true,
    ...readSettings(flags),
    ...(flags.dryRun ? { backend: 'mock' } : {}),
    // A dry run of a whole command line: no program is asked.
    command: flags.command === undefined || flags.dryRun ? undefined : parseCommandLine(flags.command),
    mock: flags.mock,
    runsDir: flags.runsDir,
    record: flags.record,
    keep: readCount('--keep', flags.keep),
    fsync: readChoice('--fsync', flags.fsync, ['group', 'each']),
    allowFailures: flags.allowFailures,
  };
}

/** By the one table that environment and config are read by. */
function readSettings(flags: RunFlags): Pick<RunWorkflowOptions, SettingOption> {
  const given = SETTINGS.flatMap(({ option, key, flag, read }) => {
    const text = flags[key];
    return text === undefined ? [] : [[option, read(flag, text)]];
  });
  return Object.fromEntries(given);
}

function readStdin(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch (error) {
    throw new WfError('WF_SCRIPT_NOT_FOUND', `The script on stdin cannot be read: ${messageOf(error)}.`, {
      remedy: 'Hand it over with `<` or a pipe, or name a file.',
    });
  }
}
