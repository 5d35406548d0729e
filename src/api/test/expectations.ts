/** The shape of a file of expectations, and what is said of one that does not have it. */
import * as z from 'zod';
import { prepareMatch } from '../../agents/mock/mock-rules.js';
import { WfError } from '../../shared/errors.js';
import { nearestWord } from '../../shared/nearest-word.js';

const count = z.number('must be a number').int('must be a whole number').nonnegative('must not be negative');
const text = z.string('must be a text');
const pattern = text.refine(isPattern, 'is no regular expression');

const callShape = z.strictObject({
  label: pattern.optional(),
  prompt: pattern.optional(),
  phase: pattern.optional(),
  count: count.optional(),
});
const failureShape = z.strictObject({
  label: pattern.optional(),
  code: pattern.optional(),
  message: pattern.optional(),
  count: count.optional(),
});
const caseShape = z.strictObject({
  name: text.optional(),
  args: z.unknown().optional(),
  answers: z.array(z.unknown(), 'must be a list of rules').optional(),
  mock: text.optional(),
  from: text.optional(),
  calls: z
    .union([count, z.array(callShape), z.record(pattern, count)], 'must be a number, { label: number } or a list')
    .optional(),
  result: z.unknown().optional(),
  failures: z.union([count, z.array(failureShape)], 'must be a number or a list').optional(),
  exitCode: count.optional(),
});
const fileShape = z.strictObject({
  cases: z.array(caseShape, 'must be a list of cases').min(1, 'must hold at least one case'),
});

/** One case as the file has it. Texts are compared as the rules of `mock` do: `/…/` is an expression. */
export type Expectations = z.infer<typeof caseShape>;

export const hasResult = (expected: Expectations): boolean => Object.hasOwn(expected, 'result');

/** The case says itself where its answers come from. */
export const hasAnswers = ({ answers, mock, from }: Expectations): boolean =>
  answers !== undefined || mock !== undefined || from !== undefined;

/** The cases of a file. @throws WfError `WF_TEST_FILE` that names the place and what is wrong there */
export function checkExpectations(data: unknown, file: string): Expectations[] {
  const isList = typeof data === 'object' && data !== null && Object.hasOwn(data, 'cases');
  const checked = isList ? fileShape.safeParse(data) : caseShape.safeParse(data);
  if (!checked.success) throw refuse(file, describeIssue(checked.error.issues[0] as z.core.$ZodIssue, isList));
  const cases = 'cases' in checked.data ? checked.data.cases : [checked.data];
  cases.forEach((each, index) => {
    const sources = (['answers', 'mock', 'from'] as const).filter((name) => each[name] !== undefined);
    const place = isList ? `cases[${index}] ` : '';
    if (sources.length > 1) throw refuse(file, `${place}has ${sources.join(' and ')}; answers come from one of them`);
  });
  return cases;
}

export const refuse = (file: string, reason: string): WfError =>
  new WfError('WF_TEST_FILE', `The expectations cannot be used: ${reason}.`, {
    remedy:
      'A case is { name?, args?, answers? | mock? | from?, calls?, result?, failures?, exitCode? }; a file holds one, or { cases: [ … ] }.',
    place: { file },
  });

function describeIssue(issue: z.core.$ZodIssue, isList: boolean, above: readonly PropertyKey[] = []): string {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union') {
    // The branch that was meant is the one that got furthest.
    const reached = issue.errors
      .flatMap((errors) => errors.slice(0, 1))
      .sort((a, b) => b.path.length - a.path.length)[0];
    if (reached !== undefined && reached.path.length > 0) return describeIssue(reached, isList, path);
  }
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] as string;
    const known = knownAt(path, isList);
    const nearest = nearestWord(key, known);
    const meant = nearest === undefined ? `known here: ${known.join(', ')}` : `did you mean ${nearest}?`;
    return `unknown key ${showPath([...path, key])} (${meant})`;
  }
  const what = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return path.length === 0 ? 'the file must hold one object' : `${showPath(path)} ${what}`;
}

function knownAt(path: readonly PropertyKey[], isList: boolean): string[] {
  if (isList && path.length === 0) return Object.keys(fileShape.shape);
  const key = path[isList ? 2 : 0];
  const shape = key === 'calls' ? callShape : key === 'failures' ? failureShape : caseShape;
  return [...Object.keys(shape.shape), ...(path.length === 0 ? ['cases'] : [])];
}

const showPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (shown, step) =>
      typeof step === 'number' ? `${shown}[${step}]` : shown === '' ? String(step) : `${shown}.${String(step)}`,
    '',
  );

function isPattern(value: string): boolean {
  try {
    prepareMatch(value, () => true);
    return true;
  } catch {
    return false;
  }
}
