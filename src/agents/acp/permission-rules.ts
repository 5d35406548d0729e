/** Answers an agent that asks whether it may use a tool: by the permission of the run and the tools of the call. */
import type { Permission } from '../backend.js';

export interface ToolRules {
  permission: Permission;
  /** Names as agent definitions write them: `Read`, `Bash(git log:*)`. Only these, when given. */
  tools: readonly string[] | undefined;
  disallowedTools: readonly string[] | undefined;
}

/** A tool as an agent tells of it; everything may be missing. */
export interface AskedTool {
  kind?: unknown;
  name?: unknown;
  title?: unknown;
}

const LOOKING = ['read', 'search', 'think', 'fetch'];
const CHANGING = ['edit', 'delete', 'move'];

/** What a permission lets through, by the protocol's kinds of tools. `full` lets everything through. */
const BY_PERMISSION: Record<Permission, readonly string[] | 'all'> = {
  read: LOOKING,
  edit: [...LOOKING, ...CHANGING],
  full: 'all',
};

/** The kinds behind the names of tools that agent definitions use. */
const BY_NAME: Record<string, readonly string[]> = {
  read: ['read'],
  notebookread: ['read'],
  ls: ['read', 'search'],
  glob: ['search'],
  grep: ['search'],
  edit: CHANGING,
  multiedit: CHANGING,
  write: CHANGING,
  notebookedit: CHANGING,
  bash: ['execute'],
  bashoutput: ['execute'],
  killshell: ['execute'],
  webfetch: ['fetch'],
  websearch: ['fetch', 'search'],
  todowrite: ['think'],
};

export function mayUse(rules: ToolRules, tool: AskedTool): boolean {
  const kind = typeof tool.kind === 'string' ? tool.kind : 'other';
  const byPermission = BY_PERMISSION[rules.permission];
  if (byPermission !== 'all' && !byPermission.includes(kind)) return false;
  if (rules.tools && !rules.tools.some((entry) => allows(entry, kind, tool))) return false;
  return !rules.disallowedTools?.some((entry) => forbids(entry, kind, tool));
}

/** An entry with a pattern allows nothing: what a command would do cannot be read from its kind. */
function allows(entry: string, kind: string, tool: AskedTool): boolean {
  const { name, pattern } = parseEntry(entry);
  if (pattern) return false;
  return isNamed(name, tool) || (BY_NAME[name]?.includes(kind) ?? false);
}

/** An entry with a pattern forbids its whole kind, for the same reason. */
function forbids(entry: string, kind: string, tool: AskedTool): boolean {
  const { name } = parseEntry(entry);
  return isNamed(name, tool) || (BY_NAME[name]?.includes(kind) ?? false);
}

function parseEntry(entry: string): { name: string; pattern: boolean } {
  const at = entry.indexOf('(');
  return { name: (at === -1 ? entry : entry.slice(0, at)).trim().toLowerCase(), pattern: at !== -1 };
}

const isNamed = (name: string, tool: AskedTool): boolean =>
  typeof tool.name === 'string' && tool.name.toLowerCase() === name;

interface AskedOption {
  optionId: string;
  kind: string;
}

/** The option to choose; `undefined` when the agent offers none that fits: the turn is then cancelled. */
export function pickOption(options: readonly AskedOption[], allowed: boolean, rules: ToolRules): string | undefined {
  // "Always" would spare the agent its next question, and us the answer.
  const always = rules.permission === 'full' && !rules.tools && !rules.disallowedTools;
  const kinds = allowed ? ['allow_once', ...(always ? ['allow_always'] : [])] : ['reject_once', 'reject_always'];
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind);
    if (found) return found.optionId;
  }
  return allowed ? pickOption(options, false, rules) : undefined;
}
