import type { Command } from 'commander';
import { examples } from '../examples.js';
import type { RunFlags } from '../run-options.js';

const collect = (value: string, earlier: string[] | undefined): string[] => [...(earlier ?? []), value];

export function defineRun(program: Command, setExit: (code: number) => void): void {
  addRunFlags(program.command('run'))
    .description('run a workflow script, or go on from an earlier run')
    .addHelpText(
      'after',
      examples([
        'wf run review --arg base=main --backend mock',
        'wf run --resume-from 0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11',
      ]),
    )
    .action(async (script: string | undefined, flags: RunFlags) =>
      setExit(await (await import('./run.js')).run(script, flags)),
    );

  addInputs(program.command('plan'))
    .option('--json', 'one JSON object')
    .description('say what a resume would run and why; spend nothing, write nothing')
    // Who has the command of a resume at hand puts "plan" in its place, with whatever flags it has.
    .showHelpAfterError(
      '  → wf plan -h says what it takes; wf run --plan … takes every flag of a resume and says the same.',
    )
    .addHelpText(
      'after',
      examples([
        'wf plan --resume-from 0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11',
        'wf plan review.js --resume-from 0b5ad1c3-6a0e-4c8e-9d53-0f3b8f4b2c11 --json',
      ]),
    )
    .action(async (script: string | undefined, flags: RunFlags & { json?: boolean }) =>
      setExit(await (await import('./plan.js')).plan(script, flags)),
    );
}

/** What decides which calls a script makes and which of them are recorded: `wf plan` must see it as `wf run` does. */
function addInputs(command: Command): Command {
  return command
    .argument('[script]', 'a file, - for stdin, or the name of a saved workflow')
    .option('--resume-from <uuid>', 'go on from this run: finished calls are reused, the rest runs')
    .option('--match <rule>', 'content (default), or prefix: after the first call that is no hit nothing is')
    .option('--strict', 'refuse to resume from a journal that is damaged')
    .option('--args <json>', 'args of the workflow, JSON')
    .option('--args-file <file>', 'args from a JSON file, - for stdin')
    .option('--args-text <text>', 'args as one text')
    .option('--arg <name=text>', 'one value of args, as text; name:=json for a typed one (repeatable)', collect)
    .option(
      '--backend <name>',
      'what executes the calls: claude, codex, acp, gemini, ai-sdk, command, mock, or one of the config (env WF_BACKEND)',
    )
    .option('--command <program>', 'program and arguments of the backends command and acp')
    .option('--mock <file>', 'rules of the mock backend, JSON or YAML')
    .option('--dry-run', 'run on mock: made-up answers that fit the schemas')
    .option('--budget <tokens>', 'output tokens that this run may spend, such as 500k')
    .option('--turn-timeout <time>', 'limit of script code without an await (default 30s)')
    .option('--memory <mb>', 'memory of the script (default 256)')
    .option(
      '--runs-dir <folder>',
      'folder of the runs (env WF_RUNS_DIR; default: .claude/workflow-runs of the project)',
    )
    .option(...VERBOSE);
}

/** Of every command: a fault in `wf` itself may show in any of them. */
export const VERBOSE = ['-v, --verbose', 'show stack traces of wf itself'] as const;

function addRunFlags(command: Command): Command {
  return addInputs(command)
    .option('--plan', 'say what a resume would run and why; spend nothing, write nothing')
    .option('--fork', 'start a new lineage, also beside a live owner of the old one')
    .option('--run-id <uuid>', 'id of the new run (default: a random one)')
    .option('--model <name>', 'model for calls that name none')
    .option('--effort <level>', 'low, medium, high, xhigh or max, for calls that name none')
    .option('--permission <level>', 'read, edit or full (default edit); told to the agent')
    .option('--concurrency <n>', 'calls at once (default: 2 per core, 4 to 16)')
    .option('--max-agents <n>', 'calls that this run may execute (default 1000)')
    .option('--budget-usd <dollars>', 'US dollars that this run may spend, such as 2.50')
    .option('--min-free-mem <mb>', 'while fewer MB are free than this, no further call starts as long as others run')
    .option('--confirm-above <n>', 'ask before more than n calls are executed; needs a terminal')
    .option('--timeout <time>', 'limit of one call with all its attempts, such as 10m')
    .option('--idle-timeout <time>', 'limit of a call without any sign of life')
    .option('--retries <n>', 'tries after the first, for errors that are worth it')
    .option('--keep <n>', 'so many of the newest runs stay (default 50)')
    .option('--fsync <mode>', 'group (default) or each: wait for the disk after every journal line')
    .option('--drain <time>', 'how long started calls may finish after SIGTERM (default 300s, 8s as PID 1)')
    .option('--reporter <name[=file]>', 'plain, jsonl, json, github or junit (repeatable; default plain)', collect)
    .option('--record <file>', 'write the answers of the run as rules for mock into a new file')
    .option('--output <file>', 'write the result there as JSON, - for stdout')
    .option('--allow-failures', 'exit 0 although some calls gave no answer')
    .option('-q, --quiet', 'print only trouble');
}
