import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seededRandom, shuffled, testSeed, testSeeds } from './seeds.js';
import { makeProject } from './temp-project.js';
import { waitFor } from './wait.js';

describe('waitFor', () => {
  it('gives the first value found, also one that is there from the start', async () => {
    let looks = 0;
    expect(await waitFor('three looks', () => ++looks >= 3 && looks)).toBe(3);
    expect(await waitFor('at once', () => '')).toBe('');
  });

  it('looks again when a watched folder changes', async () => {
    const project = makeProject();
    const times: number[] = [];
    const waiting = waitFor('a file', () => times.push(1) > 0 && project.read('new').length > 0, {
      watch: [project.dir],
    });
    await expect(waiting).rejects.toThrow(/ENOENT/);
    writeFileSync(project.path('new'), 'x');
    expect(await waitFor('a file', () => project.read('new'), { watch: [project.path('new')] })).toBe('x');
  });

  it('names what it waited for: in vain, given up, or thrown', async () => {
    await expect(waitFor('rain', () => false, { timeoutMs: 30 })).rejects.toThrow('Waited 30 ms for rain.');
    await expect(
      waitFor(
        () => 'snow',
        () => undefined,
        { gaveUp: () => 'it is June' },
      ),
    ).rejects.toThrow('Waited for snow: it is June');
  });
});

describe('seeds', () => {
  it('are in sequence and printed at the start of the run', () => {
    expect(testSeeds(3)).toEqual([testSeed(), testSeed() + 1, testSeed() + 2]);
  });

  it('decide every choice', () => {
    const letters = [...'abcdefghij'];
    expect(shuffled(letters, 7)).toEqual(shuffled(letters, 7));
    expect(shuffled(letters, 7)).not.toEqual(shuffled(letters, 8));
    expect([...shuffled(letters, 7)].sort()).toEqual(letters);
    const random = seededRandom(1);
    const numbers = Array.from({ length: 10_000 }, random);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
    expect(numbers.reduce((sum, number) => sum + number) / numbers.length).toBeCloseTo(0.5, 1);
  });
});
