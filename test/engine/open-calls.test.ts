/** What is open, and what is due, as a plain Map and a sorted list would tell it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  createDueQueue,
  createOpenCalls,
  type OpenAgent,
  type OpenTimer,
} from '../../src/engine/sandbox/open-calls.js';
import { testSeed } from '../support/seeds.js';

type Call = OpenAgent | OpenTimer;
const RUNS = { seed: testSeed(), numRuns: 500 };

it('calls and timers come and go, numbers of refused calls are left out, and what is gone may be removed again', () => {
  const step = fc.oneof(
    fc.record({ add: fc.constantFrom('call', 'timer'), skip: fc.nat(3) }),
    fc.record({ remove: fc.integer({ min: -30, max: 60 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const open = createOpenCalls();
      const rules = new Map<number, Call>();
      let calls = 0;
      let timers = 0;
      for (const one of steps) {
        if ('add' in one) {
          if (one.add === 'call') calls += 1 + one.skip;
          else timers++;
          const id = one.add === 'call' ? calls : -timers;
          const call = { kind: one.add, id } as unknown as Call;
          open.add(id, call);
          rules.set(id, call);
        } else {
          open.remove(one.remove);
          rules.delete(one.remove);
        }
        expect(open.size).toBe(rules.size);
      }
      for (let id = -timers - 1; id <= calls + 1; id++) expect(open.get(id)).toBe(rules.get(id));
      const inOrder = (sign: number): Call[] => [...rules].filter(([id]) => id * sign > 0).map(([, call]) => call);
      expect(open.all()).toEqual([...inOrder(1), ...inOrder(-1)]);
    }),
    RUNS,
  );
});

it('of what is due the lowest place comes first, also where more falls due in between', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(500), { maxLength: 60 }), fc.infiniteStream(fc.boolean()), (places, pops) => {
      const due = createDueQueue();
      let rules: number[] = [];
      const pop = (): void => {
        rules = rules.sort((a, b) => a - b);
        expect(due.pop()).toEqual(rules.length === 0 ? undefined : { place: rules.shift() });
      };
      for (const place of places) {
        due.push(place, { place } as unknown as Call);
        rules.push(place);
        if (pops.next().value) pop();
        expect(due.size).toBe(rules.length);
      }
      while (rules.length > 0) pop();
      pop();
    }),
    RUNS,
  );
});
