/** `--permission` of `wf` in the words of Claude Code. */
import type { AgentRequest } from '../backend.js';

/** Cannot change anything: no shell among them, whatever the user's own rules allow. */
const READ_TOOLS = ['Read', 'Grep', 'Glob', 'WebFetch', 'WebSearch'];
/** Everything, one by one: what the mode that asks nothing would allow. */
const ALL_TOOLS = [
  ...['Bash', 'Edit', 'Write', 'NotebookEdit', 'Read', 'Grep', 'Glob', 'WebFetch', 'WebSearch'],
  ...['Agent', 'Task', 'Skill', 'TodoWrite', 'Monitor', 'BashOutput', 'KillShell', 'mcp__*'],
];
/** By which the answer to a schema is given. */
const ANSWER_TOOL = 'StructuredOutput';

export interface PermissionFlags {
  mode: 'dontAsk' | 'acceptEdits' | 'bypassPermissions';
  /** Tools that exist at all; without it those of Claude Code. */
  tools: string[] | undefined;
  /** Rules that allow. */
  allow: string[];
}

/** @param bypass false where Claude Code refuses its mode that asks nothing: as root, outside of a sandbox */
export function permissionFlags(request: AgentRequest, bypass: boolean): PermissionFlags {
  const tools = availableTools(request);
  if (request.permission === 'read') return { mode: 'dontAsk', tools: tools ?? READ_TOOLS, allow: READ_TOOLS };
  if (request.permission === 'edit') return { mode: 'acceptEdits', tools, allow: ['WebFetch', 'WebSearch'] };
  return bypass ? { mode: 'bypassPermissions', tools, allow: [] } : { mode: 'dontAsk', tools, allow: ALL_TOOLS };
}

/** What the call leaves of the tools; a rule like `Bash(git log:*)` names its tool. */
function availableTools(request: AgentRequest): string[] | undefined {
  if (!request.tools) return undefined;
  const names = request.tools.map(toolOf).filter((name) => name !== ANSWER_TOOL);
  return request.permission === 'read' ? names.filter((name) => READ_TOOLS.includes(name)) : names;
}

const toolOf = (rule: string): string => rule.replace(/\(.*$/s, '').trim();

/** The list for an agent definition: its own way to answer always belongs to it. */
export const definitionTools = (request: AgentRequest): string[] | undefined => {
  const tools = availableTools(request);
  return tools && [...tools, ...(request.schema ? [ANSWER_TOOL] : [])];
};

/** Claude Code refuses to run without questions for root, unless told that it is in a sandbox. */
export const mayBypass = (env: Readonly<Record<string, string | undefined>>): boolean =>
  process.getuid?.() !== 0 || Boolean(env.IS_SANDBOX) || Boolean(env.CLAUDE_CODE_BUBBLEWRAP);
