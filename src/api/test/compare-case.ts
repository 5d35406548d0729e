/** Holds what happened against the expectations, and makes expectations of what happened. */
import { prepareMatch } from '../../agents/mock/mock-rules.js';
import { type Difference, diffJson, joinPath } from '../../shared/diff-json.js';
import { EXIT } from '../../shared/errors.js';
import { literal } from '../record-answers.js';
import { type Expectations, hasResult } from './expectations.js';
import type { Played } from './play-case.js';

type Texts = Record<string, string | undefined>;

/** @returns what differs, by the key of the case that says otherwise */
export function compareCase(expected: Expectations, played: Played): Partial<Record<keyof Expectations, Difference[]>> {
  const { calls, failures } = expected;
  const failed = played.failures.map(({ label, code, message }) => ({ label, code, message }));
  const found = {
    exitCode: compareExit(expected, played),
    calls: calls === undefined ? [] : compareCalls(calls, played),
    result: hasResult(expected) ? compareResult(expected.result, played) : [],
    failures: failures === undefined ? [] : compareFailures(failures, failed),
  };
  return Object.fromEntries(Object.entries(found).filter(([, differences]) => differences.length > 0));
}

/** Without a word on it a run must complete, and each call have an answer unless failures are expected. */
function compareExit(
  { exitCode, failures }: Expectations,
  { exitCode: received, error, failures: failed }: Played,
): Difference[] {
  const mayFail = failures !== undefined && failures !== 0;
  const expected = exitCode ?? (mayFail && received === EXIT.callsFailed ? EXIT.callsFailed : EXIT.ok);
  if (expected === received) return [];
  const cause = error ?? failed[0];
  return [
    {
      path: 'exitCode',
      expected,
      received,
      ...(cause === undefined ? {} : { note: `${cause.code}: ${cause.message}` }),
    },
  ];
}

function compareResult(expected: unknown, played: Played): Difference[] {
  return 'result' in played ? diffJson(expected, played.result, 'result') : [{ path: 'result', expected }];
}

function compareCalls(expected: NonNullable<Expectations['calls']>, { calls }: Played): Difference[] {
  if (typeof expected === 'number') return countDiffers('calls', expected, calls.length);
  if (Array.isArray(expected)) return expected.flatMap((item, index) => compareItem(item, calls, `calls[${index}]`));
  // Every label must be named.
  const labels = Object.keys(expected).map((label) => ({ label, fits: matching(label, 'label') }));
  const known = labels.flatMap(({ label, fits }) =>
    countDiffers(joinPath('calls', label), expected[label] as number, calls.filter((call) => fits(call.label)).length),
  );
  const others = countBy(
    calls.filter((call) => !labels.some(({ fits }) => fits(call.label))).map((call) => call.label),
  );
  return [...known, ...[...others].map(([label, received]) => ({ path: joinPath('calls', label), received }))];
}

function compareFailures(expected: NonNullable<Expectations['failures']>, failed: Texts[]): Difference[] {
  if (typeof expected === 'number') return countDiffers('failures', expected, failed.length);
  const missing = expected.flatMap((item, index) => compareItem(item, failed, `failures[${index}]`));
  const others = failed.filter((failure) => !expected.some((item) => fitsItem(item, failure)));
  return [...missing, ...others.map((received) => ({ path: 'failures', received }))];
}

type Item = Texts & { count?: number | undefined };

/** Without a count at least one must fit. */
function compareItem(item: object, among: readonly Texts[], path: string): Difference[] {
  const received = among.filter((each) => fitsItem(item, each)).length;
  const { count } = item as { count?: number };
  if (count === undefined ? received > 0 : received === count) return [];
  return [{ path, expected: item, received: received === 0 ? 'none' : `${received} of them` }];
}

function fitsItem(item: object, texts: Texts): boolean {
  return Object.entries(item as Item).every(([name, wanted]) => {
    const value = texts[name];
    return name === 'count' || wanted === undefined || (value !== undefined && matching(wanted as string, name)(value));
  });
}

/** As in a rule of `mock`: a prompt or a message must contain the text, the others equal it. */
const matching = (wanted: string, name: string): ((text: string) => boolean) =>
  prepareMatch(wanted, (text, part) => (name === 'prompt' || name === 'message' ? text.includes(part) : text === part));

const countDiffers = (path: string, expected: number, received: number): Difference[] =>
  expected === received ? [] : [{ path, expected, received }];

/** What a case says that is met by just this. */
export function makeExpectations(played: Played): Expectations {
  const { result, failures, exitCode } = played;
  const failed = countBy(failures.map(({ label, code }) => JSON.stringify([label, code])));
  return {
    calls: Object.fromEntries([...countBy(played.calls.map(({ label }) => literal(label)))]),
    ...('result' in played ? { result } : {}),
    ...(failed.size === 0
      ? {}
      : {
          failures: [...failed].map(([text, count]) => {
            const [label, code] = JSON.parse(text) as [string, string];
            return { label: literal(label), code, count };
          }),
        }),
    ...(exitCode === 0 ? {} : { exitCode }),
  };
}

function countBy(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
