/** One attempt as the `claude` program takes it: flags, and lines on stdin. Prompts and definitions never stand in its arguments. */
import { resolve } from 'node:path';
import type { AgentRequest } from '../backend.js';
import type { ClaudeSettings } from './claude-settings.js';
import { definitionTools, permissionFlags } from './permission-flags.js';

/** Agents that Claude Code brings along, for its main thread too. */
export const CLAUDE_AGENT_TYPES: ReadonlySet<string> = new Set(['claude', 'Explore', 'general-purpose', 'Plan']);

const ALL_SOURCES = ['user', 'project', 'local'];

export interface InputParts {
  request: AgentRequest;
  settings: ClaudeSettings;
  /** Start folder of the run, absolute. */
  folder: string;
  /** Claude Code's mode that asks nothing may be used. */
  bypass: boolean;
  /** Session to go on in. */
  session: string | undefined;
}

export function claudeArguments({ request, settings, folder, bypass, session }: InputParts): string[] {
  const { mode, tools, allow } = permissionFlags(request, bypass);
  const model = request.model ?? settings.model;
  const agent = request.agent?.name ?? knownType(request.agentType);
  const allowed = [...allow, ...(request.permission === 'read' ? [] : (settings.allowedTools ?? []))];
  const refused = [...(settings.disallowedTools ?? []), ...(request.disallowedTools ?? [])];
  const mcp = (settings.mcpConfig ?? []).map((file) => resolve(folder, file));
  const dirs = (settings.addDirs ?? []).map((dir) => resolve(folder, dir));
  return [
    ...['-p', '--input-format=stream-json', '--output-format=stream-json', '--verbose'],
    `--permission-mode=${mode}`,
    `--setting-sources=${(settings.settingSources ?? ALL_SOURCES).join(',')}`,
    ...(settings.mcp ? [] : ['--strict-mcp-config']),
    ...(mcp.length > 0 ? ['--mcp-config', ...mcp] : []),
    ...(dirs.length > 0 ? ['--add-dir', ...dirs] : []),
    ...(tools === undefined ? [] : [`--tools=${tools.join(',')}`]),
    ...(allowed.length > 0 ? [`--allowedTools=${allowed.join(',')}`] : []),
    ...(refused.length > 0 ? [`--disallowedTools=${refused.join(',')}`] : []),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(request.effort === undefined ? [] : [`--effort=${request.effort}`]),
    ...(settings.maxBudgetUsd === undefined ? [] : [`--max-budget-usd=${settings.maxBudgetUsd}`]),
    ...(agent === undefined ? [] : [`--agent=${agent}`]),
    ...(session === undefined ? [] : [`--resume=${session}`]),
  ];
}

const knownType = (type: string | undefined): string | undefined =>
  type !== undefined && CLAUDE_AGENT_TYPES.has(type) ? type : undefined;

export interface AskedQuestion {
  request: AgentRequest;
  prompt: string;
  /** For the tool by which the answer is given. */
  schema: object | undefined;
}

/** The lines that set the session up and ask the question. */
export function claudeMessages({ request, prompt, schema }: AskedQuestion): string {
  const { agent } = request;
  const definition = agent && {
    description: agent.description ?? agent.name,
    prompt: agent.prompt,
    tools: definitionTools(request),
    disallowedTools: request.disallowedTools,
  };
  const setUp = {
    type: 'control_request',
    request_id: 'set-up',
    request: { subtype: 'initialize', jsonSchema: schema, ...(agent && { agents: { [agent.name]: definition } }) },
  };
  // At the start of a text a slash is a command of Claude Code's own: it would answer without a model.
  const text = prompt.startsWith('/') ? `\n${prompt}` : prompt;
  const question = {
    type: 'user',
    session_id: '',
    parent_tool_use_id: null,
    message: { role: 'user', content: [{ type: 'text', text }] },
  };
  return `${JSON.stringify(setUp)}\n${JSON.stringify(question)}\n`;
}
