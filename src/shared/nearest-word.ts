/**
 * The known word that an unknown one was probably meant to be: at most a third of its letters differ.
 *
 * @example nearestWord('jsnol', ['json', 'jsonl']) // 'jsonl'
 */
export function nearestWord(word: string, known: Iterable<string>): string | undefined {
  const asked = word.slice(0, 60).toLowerCase();
  let best: string | undefined;
  let least = Math.max(1, Math.floor(asked.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(asked, candidate.toLowerCase());
    if (distance < least) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

/** Letters to add, remove, replace or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(replaced, (above[j] as number) + 1, (row[j - 1] as number) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] as number) + 1);
      row.push(cost);
    }
    before = above;
    above = row;
  }
  return above[b.length] as number;
}

/** Shorter beginnings say too little of what was meant. */
const LEAST_BEGINNING = 4;

/**
 * The same, else the only known word that begins as the unknown one does, its last letter aside.
 *
 * @example nearestOrBegun('retry', ['retries', 'tools']) // 'retries'
 */
export function nearestOrBegun(word: string, known: readonly string[]): string | undefined {
  const nearest = nearestWord(word, known);
  const beginning = word.slice(0, Math.max(LEAST_BEGINNING, word.length - 1)).toLowerCase();
  if (nearest !== undefined || beginning.length < LEAST_BEGINNING) return nearest;
  const [first, ...others] = known.filter((candidate) => candidate.toLowerCase().startsWith(beginning));
  return others.length === 0 ? first : undefined;
}
