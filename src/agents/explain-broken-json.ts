/** Says where JSON that an agent meant as its answer breaks off, so that it can mend that place and not guess. */

const AROUND = 20;
/** A bracket in a sentence is no JSON. */
const START = /^\s*[[{]|\{\s*"|\[\s*[{"]/;

/** `undefined` when the text does not look like JSON at all. */
export function explainBrokenJson(text: string): string | undefined {
  const start = text.search(START);
  if (start === -1) return undefined;
  const candidate = text.slice(start).replace(/\s*```\s*$/, '');
  try {
    JSON.parse(candidate);
    return undefined;
  } catch (error) {
    const message = (error as Error).message;
    const place = /^(.*?) (?:in JSON )?at position (\d+)/.exec(message);
    // Without a place the text ends too early.
    const position = place ? Number(place[2]) : candidate.length;
    // V8 quotes the text itself; what matters stands around the place.
    const what = (place?.[1] ?? message).replace(/, .*? is not valid JSON$/s, '');
    const excerpt = candidate.slice(Math.max(0, position - AROUND), position + AROUND);
    return `${what} at character ${start + position}, near ${JSON.stringify(excerpt)}`;
  }
}
