/**
 * Numbers the deliveries. A live answer gets the next whole number when it is written, which is before its delivery;
 * what was delivered from the journal between two answers already written gets a place between theirs.
 */
export interface PlaceCounter {
  /** Place of a live answer that is written now and delivered later, in this order. */
  takeLive(): number;
  /** The live answer at `place` was delivered. */
  delivered(place: number): void;
  /** Place of something that the sandbox has just delivered from the journal. */
  takeReplayed(): number;
}

/** Small enough for millions of places between two whole numbers, and exact up to half a billion. */
const STEP = 2 ** -24;

export function createPlaceCounter(): PlaceCounter {
  let next = 1;
  let last = 0;
  return {
    takeLive: () => next++,
    delivered(place) {
      last = place;
    },
    takeReplayed() {
      last = next - 1 > Math.floor(last) ? last + STEP : next++;
      return last;
    },
  };
}
