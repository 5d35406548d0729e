/** The run-wide settings: one row for the flag, the variable and the key of the config, which are read by the same rules. */
import { EFFORTS, PERMISSIONS } from '../shared/agent-options.js';
import {
  orNone,
  readChoice,
  readCount,
  readDollars,
  readDuration,
  readMegabytes,
  readTokens,
} from '../shared/read-values.js';

export interface Setting {
  /** In the options of a run. */
  option: string;
  /** In the config; the flag's own name in the other spelling (`maxAgents`, `--max-agents`). */
  key: string;
  flag: string;
  variable: string;
  /** Reads what a person wrote; `where` names it in errors. */
  read(where: string, text: string): string | number | null | undefined;
  /** Whole numbers only, and none beyond these. */
  range?: readonly [min: number, max: number];
}

const readText = (_where: string, text: string): string => text;

export const SETTINGS = [
  { option: 'backend', key: 'backend', flag: '--backend', variable: 'WF_BACKEND', read: readText },
  { option: 'model', key: 'model', flag: '--model', variable: 'WF_MODEL', read: readText },
  {
    option: 'effort',
    key: 'effort',
    flag: '--effort',
    variable: 'WF_EFFORT',
    read: (where, text) => readChoice(where, text, EFFORTS),
  },
  {
    option: 'permission',
    key: 'permission',
    flag: '--permission',
    variable: 'WF_PERMISSION',
    read: (where, text) => readChoice(where, text, PERMISSIONS),
  },
  {
    option: 'concurrency',
    key: 'concurrency',
    flag: '--concurrency',
    variable: 'WF_CONCURRENCY',
    read: readCount,
    range: [1, 100_000],
  },
  {
    option: 'maxAgents',
    key: 'maxAgents',
    flag: '--max-agents',
    variable: 'WF_MAX_AGENTS',
    read: readCount,
    range: [0, 10_000_000],
  },
  {
    option: 'budgetTokens',
    key: 'budget',
    flag: '--budget',
    variable: 'WF_BUDGET',
    read: (where, text) => orNone(readTokens, where, text),
  },
  {
    option: 'budgetUsd',
    key: 'budgetUsd',
    flag: '--budget-usd',
    variable: 'WF_BUDGET_USD',
    read: (where, text) => orNone(readDollars, where, text),
  },
  {
    option: 'minFreeMemMb',
    key: 'minFreeMem',
    flag: '--min-free-mem',
    variable: 'WF_MIN_FREE_MEM',
    read: (where, text) => orNone(readMegabytes, where, text),
  },
  {
    option: 'timeoutMs',
    key: 'timeout',
    flag: '--timeout',
    variable: 'WF_TIMEOUT',
    read: (where, text) => orNone(readDuration, where, text),
  },
  {
    option: 'idleTimeoutMs',
    key: 'idleTimeout',
    flag: '--idle-timeout',
    variable: 'WF_IDLE_TIMEOUT',
    read: (where, text) => orNone(readDuration, where, text),
  },
  { option: 'retries', key: 'retries', flag: '--retries', variable: 'WF_RETRIES', read: readCount },
  {
    option: 'turnTimeoutMs',
    key: 'turnTimeout',
    flag: '--turn-timeout',
    variable: 'WF_TURN_TIMEOUT',
    read: readDuration,
    range: [1, 3_600_000],
  },
  {
    option: 'memoryMb',
    key: 'memory',
    flag: '--memory',
    variable: 'WF_MEMORY',
    read: readMegabytes,
    range: [8, 65_536],
  },
] as const satisfies readonly Setting[];

export type SettingKey = (typeof SETTINGS)[number]['key'];
export type SettingOption = (typeof SETTINGS)[number]['option'];
