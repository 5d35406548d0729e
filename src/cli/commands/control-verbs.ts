/** The verbs for a run that another process holds: following it, and steering it. */
import type { Command } from 'commander';
import { examples } from '../examples.js';

const RUN = 'run id, or a prefix that only one run has';
const CALL = '#n, or a label or key prefix that only one call of the run has';

export function defineControl(program: Command, setExit: (code: number) => void): void {
  const verb = (name: string): Command =>
    program
      .command(name)
      .argument('<run>', RUN)
      .option('--runs-dir <folder>', 'folder of the runs (default: .claude/workflow-runs of the project)');

  verb('watch')
    .description('follow a run to its end')
    .option('--json', 'its events, one JSON object a line')
    .addHelpText('after', examples(['wf watch 0b5ad1c3', 'wf watch "$(wf ls -q -n 1)"']))
    .action(async (run, flags) => setExit(await (await import('./watch.js')).watch(run, flags)));

  verb('logs')
    .description('print what happened in a run')
    .option('-f, --follow', 'go on until the run has ended')
    .option('--json', 'its events as they are recorded, one JSON object a line')
    .addHelpText('after', examples(['wf logs 0b5ad1c3', 'wf logs -f --json 0b5ad1c3']))
    .action(async (run, flags) => setExit(await (await import('./logs.js')).logs(run, flags)));

  verb('stop')
    .description('end a live run: its agents are ended, and it can be resumed')
    .option('--drain', 'let what runs finish, for as long as the run was started with')
    .option('--no-wait', 'do not wait for the end')
    .option('--json', 'one JSON object')
    .addHelpText('after', examples(['wf stop 0b5ad1c3', 'wf stop 0b5ad1c3 --drain --no-wait']))
    .action(async (run, flags) => setExit(await (await import('./stop.js')).stop(run, flags)));

  verb('skip')
    .description('let one call of a live run end without an answer: the script gets null')
    .argument('<call>', CALL)
    .option('--json', 'one JSON object')
    .addHelpText('after', examples(['wf skip 0b5ad1c3 "#3"', 'wf skip 0b5ad1c3 src/a.ts']))
    .action(async (run, call, flags) => setExit(await (await import('./skip.js')).skip(run, call, flags)));

  verb('retry')
    .description('start a running call of a live run again, at once')
    .argument('<call>', CALL)
    .option('--json', 'one JSON object')
    .addHelpText('after', examples(['wf retry 0b5ad1c3 "#3"', 'wf retry 0b5ad1c3 src/a.ts']))
    .action(async (run, call, flags) => setExit(await (await import('./retry.js')).retry(run, call, flags)));
}
