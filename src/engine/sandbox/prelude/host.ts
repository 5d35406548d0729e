/** The one host function: it only queues text, and never throws. Removed from the global object before the script runs. */
import { G, parse } from './primordials.js';

/** What the host tells about the workflow at start. */
export interface PreludeConfig {
  /** Path of this workflow instance; empty for the run's own script. */
  path: string;
  /** Group of all calls in a child workflow. */
  fixedPhase: string | null;
  /** `log()` lines of a child start with this. */
  logPrefix: string;
  /** True inside a child: `workflow()` is refused. */
  child: boolean;
  budgetTotal: number | null;
  /** Tokens that the run's workflows were given before this one started. */
  spentTokens: number;
  /** Lazily supplied globals that the script's text names. */
  lazy: string[];
}

export type HostCall = (id: number, kind: string, a: string, b?: string, c?: string, d?: string, e?: string) => void;

export const hostCall = G.__call as HostCall;
const configText = G.__config as string;
/** JSON text of `args`, or undefined. */
export const argsText = G.__args as string | undefined;
delete G.__call;
delete G.__config;
delete G.__args;

export const config = parse(configText) as PreludeConfig;
