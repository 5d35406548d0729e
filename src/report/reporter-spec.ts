import { WfError } from '../shared/errors.js';
import { nearestWord } from '../shared/nearest-word.js';

export const REPORTER_NAMES = ['plain', 'jsonl', 'json', 'github', 'junit'] as const;
export type ReporterName = (typeof REPORTER_NAMES)[number];

/** A reporter as the command line names it. */
export interface ReporterSpec {
  name: ReporterName;
  /** Where it writes; stderr without one. */
  file?: string;
}

/**
 * Reads `name` or `name=file`.
 *
 * @throws WfError `WF_USAGE` for an unknown name or an empty file
 */
export function parseReporterSpec(text: string): ReporterSpec {
  const mark = text.indexOf('=');
  const name = mark < 0 ? text : text.slice(0, mark);
  if (!isReporterName(name)) {
    const nearest = nearestWord(name, REPORTER_NAMES);
    throw new WfError('WF_USAGE', `There is no reporter ${JSON.stringify(name.slice(0, 40))}.`, {
      remedy: `${nearest ? `Did you mean ${nearest}? ` : ''}The reporters are ${REPORTER_NAMES.join(', ')}.`,
    });
  }
  if (mark < 0) return { name };
  const file = text.slice(mark + 1);
  if (file === '') {
    throw new WfError('WF_USAGE', `The reporter ${name} was given an empty file name.`, {
      remedy: `Write ${name}=<file>, or ${name} alone for stderr.`,
    });
  }
  return { name, file };
}

const isReporterName = (name: string): name is ReporterName => (REPORTER_NAMES as readonly string[]).includes(name);

/** These fill their output with one format: nothing else may be written beside them. */
const WHOLE: ReadonlySet<ReporterName> = new Set(['jsonl', 'json', 'junit']);

/** The reporter that has stderr for itself, if there is one: then `wf` must write nothing else there. */
export const ownerOfStderr = (specs: readonly ReporterSpec[]): ReporterSpec | undefined =>
  specs.find((spec) => spec.file === undefined && WHOLE.has(spec.name));

/**
 * Adds the plain account to reporters that leave stderr silent, and refuses those that would spoil one another.
 *
 * @throws WfError `WF_USAGE`
 */
export function planReporters(specs: readonly ReporterSpec[]): ReporterSpec[] {
  const onStderr = specs.filter((spec) => spec.file === undefined);
  const owner = ownerOfStderr(specs);
  if (owner && onStderr.length > 1) {
    const other = onStderr.find((spec) => spec !== owner) as ReporterSpec;
    throw new WfError('WF_USAGE', `The reporters ${owner.name} and ${other.name} would both write to stderr.`, {
      remedy: `Give one of them a file: --reporter ${owner.name}=<file>.`,
    });
  }
  const files = specs.flatMap((spec) => (spec.file === undefined ? [] : [spec.file]));
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined) {
    throw new WfError('WF_USAGE', `Two reporters would write to ${twice}.`, { remedy: 'Give each its own file.' });
  }
  const isLive = owner !== undefined || onStderr.some((spec) => spec.name === 'plain');
  return isLive ? [...specs] : [{ name: 'plain' }, ...specs];
}
