/** The values of a text that holds one JSON value a line. A last line without its end is still being written: it is left out. */
export const readJsonLines = <Value = Record<string, unknown>>(text: string): Value[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Value);
