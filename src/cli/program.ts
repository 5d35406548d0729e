/** The verbs of `wf`. Each is one file under `commands/`, loaded when it is called. */
import { Command, CommanderError } from 'commander';
import { messageOf, systemCode, WfError } from '../shared/errors.js';
import { VERSION } from '../shared/version.js';
import { examples } from './examples.js';
import { withMeaning } from './meant-words.js';
import { defineControl } from './commands/control-verbs.js';
import { defineRun, VERBOSE } from './commands/run-flags.js';
import { showMessage } from './show-message.js';
import { describeErrorEvent, printErrorJson, showError } from './show-error.js';
import { reportersIn, stderrOwnerOf } from './stderr-owner.js';

/** Runs one command line and returns the exit code. */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  let exitCode = 0;
  const isForMachine = stderrOwnerOf(words) !== undefined;
  watchOutput(isForMachine);
  const setExit = (code: number): void => {
    exitCode = code;
  };
  const program = buildProgram(setExit, isForMachine, words[0]);
  try {
    await program.parseAsync(unknownVerb(program, words) ?? [...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has told its own already.
    const isUsage = error instanceof CommanderError;
    if (isUsage && error.exitCode === 0) return 0;
    const fault = isUsage ? usageError(error, words) : error;
    if (isForMachine) process.stderr.write(describeErrorEvent(fault));
    if (wantsJson(words)) printErrorJson(fault);
    if (isUsage) return 2;
    const verbose = words.includes('-v') || words.includes('--verbose');
    if (!isForMachine) showError(error, { verbose });
    return WfError.is(error) ? error.exitCode : 1;
  }
}

/**
 * A verb that is not there, alone: with a wish for help behind it, or as the word after `help`, Commander would show
 * the general help and call that a success.
 */
function unknownVerb(program: Command, [first, second]: readonly string[]): string[] | undefined {
  const verb = first === 'help' ? second : first;
  if (verb === undefined || verb === 'help' || verb.startsWith('-')) return undefined;
  return program.commands.some((command) => command.name() === verb) ? undefined : [verb];
}

const usageError = (error: CommanderError, words: readonly string[]): WfError =>
  new WfError('WF_USAGE', withMeaning(error.message, words[0]).replace(/^error: /, ''), {
    remedy:
      words[0] === 'run'
        ? 'wf run -h says what it takes.'
        : 'wf -h lists the commands, wf <command> -h says what one takes.',
  });

/** `wf run` has reporters instead, and only its result on stdout; what it plans is told there as by `wf plan`. */
const wantsJson = ([verb, ...flags]: readonly string[]): boolean =>
  verb === 'run' ? flags.includes('--plan') && reportersIn(flags).includes('json') : flags.includes('--json');

/** A reader that has had enough (`| head`) is no trouble; anything else that ends the output is. */
function watchOutput(isForMachine: boolean): void {
  process.stderr.on('error', () => {});
  process.stdout.once('error', (error) => {
    process.stdout.on('error', () => {});
    if (systemCode(error) === 'EPIPE') return;
    // A machine is told by the end of the run, where that can still be said, and by the exit code.
    if (!isForMachine) process.stderr.write(`wf: stdout cannot be written: ${messageOf(error)}\n`);
    process.on('exit', () => {
      if (process.exitCode === 0) process.exitCode = 1;
    });
  });
}

function buildProgram(setExit: (code: number) => void, isForMachine: boolean, verb: string | undefined): Command {
  const program = new Command('wf')
    .description('Runs agent workflow scripts, and never pays twice for a finished agent.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .showSuggestionAfterError(true)
    .showHelpAfterError('  → wf -h lists the commands, wf <command> -h says what one takes.')
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(showMessage(withMeaning(text, verb).replace(/^error: /, 'wf: WF_USAGE: '))),
      ...(isForMachine ? { writeErr: () => {} } : {}),
    });
  program.addHelpText(
    'after',
    examples(['wf run review.js --backend mock', 'wf run --resume-from 0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11']),
  );

  defineRun(program, setExit);

  const reading = (command: Command): Command =>
    command.option('--runs-dir <folder>', 'folder of the runs (default: .claude/workflow-runs of the project)');

  reading(program.command('ls'))
    .description('list runs, newest first')
    .option('-n, --limit <n>', 'at most so many')
    .option('--status <status>', 'only runs with this status')
    .option('-q, --quiet', 'ids only')
    .option('--json', 'one JSON array')
    .addHelpText('after', examples(['wf ls -n 5', 'wf ls --status interrupted --json']))
    .action(async (flags) => setExit(await (await import('./commands/ls.js')).list(flags)));

  reading(program.command('show'))
    .description('show one run, or one call of it')
    .argument('<run>', 'run id, or a prefix that only one run has')
    .argument('[call]', '#n, or a label or key prefix that only one call of the run has')
    .option('--json', 'one JSON object')
    .addHelpText('after', examples(['wf show 0b5ad1c3', 'wf show 0b5ad1c3 "#3"']))
    .action(async (run, call, flags) => setExit(await (await import('./commands/show.js')).show(run, call, flags)));

  reading(program.command('explain'))
    .description('say why calls of a run ran live')
    .argument('<run>', 'run id, or a prefix that only one run has')
    .argument('[call]', '#n, or a label or key prefix that only one call of the run has')
    .option('--json', 'one JSON array')
    .addHelpText('after', examples(['wf explain 0b5ad1c3', 'wf explain 0b5ad1c3 "#3" --json']))
    .action(async (run, call, flags) =>
      setExit(await (await import('./commands/explain.js')).explain(run, call, flags)),
    );

  defineControl(program, setExit);

  program
    .command('check')
    .description('check scripts without running them')
    .argument('<script...>', 'files, or names of saved workflows')
    .option('--json', 'one JSON array')
    .addHelpText('after', examples(['wf check .claude/workflows/review.js', 'wf check review --json']))
    .action(async (scripts, flags) => setExit(await (await import('./commands/check.js')).check(scripts, flags)));

  reading(program.command('test'))
    .description('run a script on scripted answers, and compare what happens with a file beside it')
    .argument('<script>', 'a file, or the name of a saved workflow')
    .option('--expect <file>', 'the expectations (default: <script>.test.json or .test.yaml beside the script)')
    .option('--mock <file>', 'answer by these rules of mock, JSON or YAML')
    .option('--from <run>', 'answer as the calls of this run were answered')
    .option('--update', 'write what happened into the expectations that are missing or not met')
    .option('--json', 'one JSON object')
    .addHelpText('after', examples(['wf test review', 'wf test review.js --from 0b5ad1c3 --update']))
    .action(async (script, flags) => setExit(await (await import('./commands/test.js')).test(script, flags)));

  reading(program.command('prune'))
    .description('remove old runs')
    .option('--keep <n>', 'so many of the newest stay (default 50)')
    .option('--dry-run', 'say what would go, and remove nothing')
    .option('--json', 'one JSON object')
    .addHelpText('after', examples(['wf prune --dry-run', 'wf prune --keep 20']))
    .action(async (flags) => setExit(await (await import('./commands/prune.js')).prune(flags)));

  reading(program.command('doctor'))
    .description('look at what runs need, and at what they left behind')
    .option('--fix', 'mend what can be mended; journals and statuses are never rewritten, nothing is started')
    .option('--json', 'one JSON object')
    .addHelpText('after', examples(['wf doctor', 'wf doctor --fix']))
    .action(async (flags) => setExit(await (await import('./commands/doctor.js')).doctor(flags)));

  for (const command of program.commands) {
    if (!command.options.some(({ short }) => short === '-v')) command.option(...VERBOSE);
    command.exitOverride().helpOption('-h, --help', 'show help');
  }
  return program;
}
