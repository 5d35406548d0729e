/** Verbs and flags that other tools have, and what `wf` calls them: nobody should have to read a help text for a synonym. */

const VERBS = new Map<string, string>(
  Object.entries({
    'wf run <script>': ['start', 'exec', 'execute'],
    'wf run --resume-from <uuid>': ['resume', 'continue', 'restart', 'rerun'],
    'wf run --resume-from <uuid> --fork': ['fork'],
    'wf ls': ['list', 'status', 'runs', 'ps', 'history'],
    'wf show <run>': ['info', 'inspect', 'get', 'describe'],
    'wf watch <run>': ['follow', 'attach', 'tail', 'wait'],
    'wf logs <run>': ['log', 'events'],
    'wf stop <run>': ['cancel', 'kill', 'abort', 'end'],
    'wf check <script>': ['lint', 'validate'],
    'wf prune': ['rm', 'remove', 'delete', 'clean', 'clear', 'gc'],
  }).flatMap(([meant, words]) => words.map((word) => [word, meant] as const)),
);

const FLAGS = new Map<string, string>(
  Object.entries({
    '--resume-from <uuid>': ['--resume', '--continue', '--from'],
    '--reporter json': ['--json'],
    '--concurrency <n>': ['--parallel', '--max-concurrency', '--jobs', '-j'],
    '--dry-run': ['--dry', '-n'],
    '--max-agents <n>': ['--max-calls'],
  }).flatMap(([meant, words]) => words.map((word) => [word, meant] as const)),
);

/**
 * The words of Commander for an unknown verb, or for an unknown flag of `wf run` and `wf plan`, with what was meant in place
 * of its guess by letters.
 *
 * @param verb the first word of the command line
 */
export function withMeaning(text: string, verb: string | undefined): string {
  const [, kind, word = ''] = /unknown (command|option) '([^']+)'/.exec(text) ?? [];
  const known = kind === 'command' ? VERBS : verb === 'run' || verb === 'plan' ? FLAGS : undefined;
  // The name alone: `--resume=<uuid>` is a way to write it too.
  const meant = known?.get(word.replace(/=.*$/s, ''));
  if (meant === undefined) return text;
  const said = text.replace(/\n\(Did you mean [^\n]*\)/, '');
  return `${said.trimEnd()}\n(Did you mean ${meant}?)${said.endsWith('\n') ? '\n' : ''}`;
}
