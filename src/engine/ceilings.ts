/**
 * How much a run may spend: agents, output tokens, money. Costs are known only when a call ends, so each call in flight
 * holds back what it will probably cost, and a call starts only while what was spent and held back is below the ceiling.
 * When all calls cost the same, the ceiling is passed by less than one call; see docs/limits.md for the rest.
 */
import type { CallOutcome } from '../agents/execute-call.js';
import type { CallUsage, ErrorRecord } from '../shared/outcome.js';
import type { SpendingLimits } from './start-limits.js';

/** What recorded answers have cost: a first guess at what this run's calls will. 0 and null are not known. */
type RecordedCosts = () => readonly { outputTokens: number; usd: number | null }[];

export interface Ceilings {
  /** `wait`: something is in flight whose end may leave room, or not. An outcome: the call is refused. */
  check(): 'start' | 'wait' | CallOutcome;
  start(n: number): void;
  /** A call under way says what it has used so far. */
  report(n: number, usage: CallUsage): void;
  /**
   * @param free it cost nothing: it was made up, or never handed to a backend
   * @param outputUntold `usage` says nothing of output tokens
   */
  end(n: number, usage: CallUsage | undefined, free: boolean, outputUntold?: boolean): void;
}

/** Until a first cost is known, each call in flight holds back this much. */
const FIRST_GUESS = { tokens: 10_000, usd: 0.5 } as const;

export function createCeilings(limits: SpendingLimits, recorded: RecordedCosts): Ceilings {
  const { maxAgents, budgetTokens, budgetUsd } = limits;
  let started = 0;
  const tokens =
    budgetTokens === null
      ? undefined
      : createCeiling(budgetTokens, meanOf(recorded().map((cost) => cost.outputTokens)) ?? FIRST_GUESS.tokens);
  const usd =
    budgetUsd == null
      ? undefined
      : createCeiling(budgetUsd, meanOf(recorded().map((cost) => cost.usd)) ?? FIRST_GUESS.usd);
  return {
    check() {
      if (started >= maxAgents) return refuseAgent(maxAgents);
      if (tokens?.isSpent) return refuseSpending(`its budget of ${budgetTokens} output tokens`, '--budget');
      if (usd?.isSpent) return refuseSpending(`its budget of $${budgetUsd}`, '--budget-usd');
      return tokens?.isHeldBack || usd?.isHeldBack ? 'wait' : 'start';
    },
    start(n) {
      started++;
      tokens?.start(n);
      usd?.start(n);
    },
    report(n, usage) {
      tokens?.report(n, usage.outputTokens);
      if (typeof usage.usd === 'number') usd?.report(n, usage.usd);
    },
    end(n, usage, free, outputUntold) {
      const told = outputUntold ? undefined : usage?.outputTokens;
      tokens?.end(n, told ?? (free ? 0 : (tokens.mean ?? 0)), told !== undefined);
      if (usd === undefined) return;
      const known = usage?.usd ?? undefined;
      // A failed or cancelled call of unknown cost counts like the others. (One that answered ends the run.)
      // So do attempts of unknown cost beside one that told its own.
      const isGuessed = known === undefined ? !free : usage?.usdPartial === true;
      // What was free says nothing of what others cost: held back at a mean of 0, all of them would start at once.
      usd.end(n, (known ?? 0) + (isGuessed ? (usd.mean ?? 0) : 0), known !== undefined);
    },
  };
}

const meanOf = (costs: readonly (number | null)[]): number | undefined => {
  const known = costs.filter((cost) => cost !== null && cost > 0) as number[];
  return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0) / known.length;
};

/** One amount with its ceiling. */
function createCeiling(ceiling: number, firstGuess: number) {
  const inFlight = new Set<number>();
  /** What calls in flight are known to have used already. */
  const used = new Map<number, number>();
  const own = { count: 0, sum: 0 };
  let spent = 0;
  const mean = (): number | undefined => (own.count === 0 ? undefined : own.sum / own.count);
  return {
    get mean() {
      return mean();
    },
    get isSpent() {
      return spent >= ceiling;
    },
    /** With nothing in flight nothing is held back: whatever a call may cost, one goes on. */
    get isHeldBack() {
      const each = mean() ?? firstGuess;
      let held = inFlight.size * each;
      for (const amount of used.values()) held += Math.max(0, amount - each);
      return inFlight.size > 0 && spent + held >= ceiling;
    },
    start: (n: number) => void inFlight.add(n),
    report(n: number, amount: number) {
      if (inFlight.has(n)) used.set(n, amount);
    },
    end(n: number, amount: number, isKnown: boolean) {
      if (!inFlight.delete(n)) return;
      used.delete(n);
      spent += amount;
      if (!isKnown) return;
      own.sum += amount;
      own.count++;
    },
  };
}

/** A ceiling of money that cannot be counted is no ceiling: the run stops, and can be resumed without losing the answer. */
export function explainUncounted({ n, label }: { n: number; label: string }, model: string | undefined): ErrorRecord {
  const which = model === undefined ? 'no model is known for it' : `its model ${JSON.stringify(model)} has no price`;
  return {
    code: 'WF_COST_UNKNOWN',
    message: `The budget in US dollars cannot be held: call #${n} "${label}" reported no cost, and ${which}. Add a price to "prices" of the config, or resume with --budget-usd none.`,
  };
}

const refuseAgent = (cap: number): CallOutcome =>
  refuse(
    'WorkflowAgentCapError',
    'WF_AGENT_CAP',
    `The run has started ${cap} agents, its limit. Raise it with --max-agents, also on a resume; check loops that never end.`,
  );

const refuseSpending = (what: string, flag: string): CallOutcome =>
  refuse(
    'WorkflowBudgetExceededError',
    'WF_BUDGET',
    `The run has spent ${what}. Raise it with ${flag}, also on a resume.`,
  );

function refuse(name: string, code: string, message: string): CallOutcome {
  return {
    kind: 'failed',
    error: { name, code, message },
    tell: 'throw',
    shared: false,
    usage: undefined,
    attempts: 0,
  };
}
