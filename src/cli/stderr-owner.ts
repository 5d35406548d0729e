/** Whose stderr is: with a machine's format on it nothing else may be written there. */
import { ownerOfStderr, parseReporterSpec, type ReporterName, type ReporterSpec } from '../report/reporter-spec.js';
import { WfError } from '../shared/errors.js';

/**
 * Told from the bare words, for what goes wrong before or beside the reading of flags.
 *
 * @returns the reporter of a `wf run` that has stderr for itself
 */
export function stderrOwnerOf([verb, ...words]: readonly string[]): ReporterName | undefined {
  // A plan is told on stdout, whatever the run would have been told by.
  if (verb !== 'run' || words.includes('--plan')) return undefined;
  return ownerOfStderr(reportersIn(words).flatMap((text) => readSpec(text) ?? []))?.name;
}

/** The values of `--reporter`, in whichever way they were given. */
export const reportersIn = (words: readonly string[]): string[] =>
  words.flatMap((word, i) => {
    if (word === '--reporter') return words[i + 1] ?? [];
    return word.startsWith('--reporter=') ? word.slice('--reporter='.length) : [];
  });

/** One that does not exist owns nothing; it is refused where flags are read. */
function readSpec(text: string): ReporterSpec | undefined {
  try {
    return parseReporterSpec(text);
  } catch (error) {
    if (WfError.is(error)) return undefined;
    throw error;
  }
}
