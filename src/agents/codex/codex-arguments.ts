/** One attempt as `codex exec` takes it. The prompt never stands among the arguments; it goes to stdin. */
import type { AgentRequest, Permission } from '../backend.js';
import type { CodexSettings } from './codex-settings.js';

const SANDBOX: Record<Permission, string> = {
  read: 'read-only',
  edit: 'workspace-write',
  full: 'danger-full-access',
};

/** Linux takes at most 128 kB in one argument. */
const MAX_ARGUMENT = 100_000;

export interface ArgumentParts {
  request: AgentRequest;
  settings: CodexSettings;
  /** File with the schema that the server is asked to keep to. */
  schemaFile: string | undefined;
  /** Variables that commands of the agent must not see. */
  hidden: readonly string[];
}

export function codexArguments({ request, settings, schemaFile, hidden }: ArgumentParts): string[] {
  const model = request.model ?? settings.model;
  const effort = request.effort ?? settings.effort;
  const instructions = definitionOf(request);
  const config: Record<string, unknown> = {
    check_for_update_on_startup: false,
    ...settings.config,
    // Nobody is there to be asked.
    approval_policy: 'never',
    sandbox_mode: SANDBOX[request.permission],
    ...(effort !== undefined && { model_reasoning_effort: effort }),
    ...(instructions !== undefined && { developer_instructions: instructions }),
    ...Object.fromEntries(hidden.map((name) => [`shell_environment_policy.set.${name}`, ''])),
  };
  return [
    'exec',
    ...(request.session === undefined ? [] : ['resume', request.session]),
    '--json',
    '--skip-git-repo-check',
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${toToml(value)}`]),
    ...(schemaFile === undefined ? [] : ['--output-schema', schemaFile]),
    '-',
  ];
}

/** The prompt of a definition that is too long for an argument stands before the call's own. */
export function promptWithDefinition(request: AgentRequest, prompt: string): string {
  const text = request.session === undefined ? request.agent?.prompt.trim() : '';
  return text && definitionOf(request) === undefined ? `${text}\n\n${prompt}` : prompt;
}

function definitionOf({ agent }: AgentRequest): string | undefined {
  const text = agent?.prompt.trim();
  return text && Buffer.byteLength(toToml(text)) <= MAX_ARGUMENT ? text.replaceAll('\0', '\u{fffd}') : undefined;
}

/** A JSON value as TOML. Strings of JSON are basic strings of TOML. */
function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? '').replaceAll('\u007f', '\\u007f');
  return `{${Object.entries(value)
    .map(([name, entry]) => `${JSON.stringify(name)} = ${toToml(entry)}`)
    .join(', ')}}`;
}
