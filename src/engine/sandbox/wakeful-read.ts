/**
 * Reads that stay awake for a moment where the supervisor has been quick to answer: the sandbox's half of
 * `../stay-awake.ts`, which says why. At most `MOMENT_MS` of one core are spent for a read, and none once it takes longer
 * or others want the core.
 */
import { systemCode } from '../../shared/errors.js';
import { createCrowdedCore, lostBetween } from './crowded-core.js';

/** A supervisor that has the answer at hand takes a tenth of that. */
const MOMENT_MS = 1;

export interface ReadPorts {
  /** With one alone, whoever stays awake keeps the other side from its work. */
  cores(): number;
  /** ms that only grow. */
  now(): number;
  /** Waits for at least one byte. */
  read(target: Buffer): number;
  /** Throws EAGAIN where no byte is there, once the descriptor was told not to block. */
  readNow(target: Buffer): number;
  /** False: not possible here. */
  setBlocking(yes: boolean): boolean;
}

export function createWakefulRead({ cores, now, read, readNow, setBlocking }: ReadPorts): (target: Buffer) => number {
  const core = createCrowdedCore();
  let wasQuick = false;
  let mayStayAwake: boolean | undefined;

  const readSoon = (target: Buffer, since: number): number | undefined => {
    if (!setBlocking(false)) {
      mayStayAwake = false;
      return undefined;
    }
    const { stackTraceLimit } = Error;
    // Each look that finds nothing makes an error; a stack would cost more than all the rest of it.
    Error.stackTraceLimit = 0;
    let lost = 0;
    let lookedAt = since;
    const look = (): number => {
      const at = now();
      lost += lostBetween(lookedAt, at);
      lookedAt = at;
      return at;
    };
    try {
      do {
        try {
          const got = readNow(target);
          look();
          return got;
        } catch (error) {
          // Whatever else it is, the read that waits meets it too.
          if (systemCode(error) !== 'EAGAIN') return undefined;
        }
      } while (look() - since < MOMENT_MS);
      return undefined;
    } finally {
      core.note(lost);
      Error.stackTraceLimit = stackTraceLimit;
      setBlocking(true);
    }
  };

  return (target) => {
    const since = now();
    if (wasQuick) {
      mayStayAwake ??= cores() > 1;
      const got = mayStayAwake && core.chooseAwake() ? readSoon(target, since) : undefined;
      if (got !== undefined) return got;
    }
    const got = read(target);
    wasQuick = now() - since < MOMENT_MS;
    return got;
  };
}
