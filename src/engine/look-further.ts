/**
 * What a script asks for behind the calls that run first, as far as it can be guessed. A plan takes nothing from it but
 * reasons: a recorded call that is asked for further on is no call that changed.
 */
import type { CarriedLines } from '../journal/carry.js';
import type { EngineOptions } from './engine-options.js';
import type { ReplayPlan } from './plan.js';
import type { DeliveredItem } from './sandbox/frames.js';

/** The live calls are answered, and those that come then, so many times. */
const ROUNDS = 20;
/** A script may take an answer that nobody gave as a reason to compute for ever. */
const LOOK_MS = 3_000;

/** A live call may be a recorded one that changed, or stand beside all of those, which are asked for later. */
export function isInDoubt({ ended, calls }: ReplayPlan, carried: CarriedLines | undefined): boolean {
  const hits = calls.filter(({ decision }) => decision === 'hit').length;
  const recorded = carried?.lines.filter(({ type }) => type === 'result').length ?? 0;
  return !ended && hits < calls.length && hits < recorded;
}

/**
 * Lets the script go on as if each live call had been answered, and takes into `look` what it asks for then. Nothing is
 * read for it: where the script wants a child workflow or the state of files, the look ends.
 *
 * @param nextRest resolves when the script waits again, has ended, or wants to know more
 */
export async function lookFurther(
  plan: ReplayPlan,
  look: ReplayPlan,
  sandbox: Pick<EngineOptions['sandbox'], 'send' | 'gone'>,
  nextRest: () => Promise<void>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LOOK_MS);
  });
  const stopped = Promise.race([late, sandbox.gone]).then(() => 'stopped');
  try {
    let open = plan.calls.filter(({ decision }) => decision === 'live');
    for (let round = 0; round < ROUNDS && open.length > 0 && !look.ended; round++) {
      const seen = look.calls.length;
      // What has a schema gets what a failed call gets.
      const texts = open.map(({ opts }) => (opts?.schema === undefined ? '"…"' : 'null'));
      const sizes = texts.map((text) => Buffer.byteLength(text));
      const items = open.map(({ n }, i): DeliveredItem => [n, 1, sizes[i] as number, 0]);
      const rest = nextRest();
      sandbox.send({ t: 'deliver', items }, { texts, bytes: sizes.reduce((sum, size) => sum + size, 0) });
      if ((await Promise.race([rest, stopped])) === 'stopped') return;
      open = look.calls.slice(seen).filter(({ decision }) => decision === 'live');
    }
  } finally {
    clearTimeout(timer);
  }
}
