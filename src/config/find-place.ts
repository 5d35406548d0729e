/** Finds the line of a JSON file at which a key or a value stands. */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

/** Lines and columns count from 1; nothing where the path leads nowhere. */
export function findPlace(text: string, path: readonly PropertyKey[]): { line: number; column: number } | undefined {
  const lines = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter: lines, uniqueKeys: false });
  let node: unknown = contents;
  let start = contents?.range?.[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
      if (pair === undefined) break;
      start = (pair.key as Node).range?.[0] ?? start;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      start = (node as Node | undefined)?.range?.[0] ?? start;
    } else break;
  }
  const { line, col } = lines.linePos(start);
  return { line, column: col };
}
