/** The kinds of backends. Each is one entry here and one folder beside; only the code of the one that is asked for is loaded. */
import { resolve } from 'node:path';
import type { ZodType } from 'zod';
import { ACP_PRESETS } from './acp/acp-presets.js';
import { anchorFields, anchorProgram } from './anchor-paths.js';
import type { AgentBackend } from './backend.js';
import { claudeVariables } from './claude/claude-environment.js';
import type { ProgramOptions } from './program-options.js';

export interface BackendOptions extends ProgramOptions {
  /** For `command`: the command line as a person wrote it, or its words. */
  command?: string | readonly string[] | undefined;
  /** For `mock`: file with rules, JSON or YAML. */
  mock?: string | undefined;
  /** What the config says of this backend, as the kind's `settings` checks it. */
  settings?: unknown;
}

export interface BackendKind {
  make(options: BackendOptions): Promise<AgentBackend>;
  /** What `backends.<kind>` of the config may hold. */
  settings?(): Promise<ZodType>;
  /** Takes the relative paths in its settings from the folder of their config. */
  anchor?(settings: unknown, folder: string): unknown;
  /** The config sets up any number of these as `backends.<kind>.<name>`, each chosen by its own name. */
  many?: true;
  /** Of these, those that need no entry in the config; one of the same name there takes their place. */
  presets?: Readonly<Record<string, unknown>>;
  /** What of a command line it is made from, where no settings say it. */
  takes?: 'command' | 'mock';
  /** Its answers are made up. */
  madeUp?: true;
  /** Taken where none was chosen and its `probe()` says that it can work; in the order of this table. */
  detected?: true;
  /** It is taken so only where a model is chosen, for the run or in its settings. */
  needsModel?: true;
  /** Variables that hold its keys: their values are masked. */
  keys?: readonly string[];
  /** Further variables that its agent is given without being asked for: masked where the name is one of a secret. */
  handed?(env: NodeJS.ProcessEnv): readonly string[];
}

export const BACKEND_KINDS: Readonly<Record<string, BackendKind>> = {
  claude: {
    detected: true,
    keys: [
      ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_CUSTOM_HEADERS', 'CLAUDE_CODE_OAUTH_TOKEN'],
      ...['AWS_BEARER_TOKEN_BEDROCK', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
    ],
    handed: claudeVariables,
    async make({ settings, env, allowEnv, folder }) {
      const { createClaudeBackend } = await import('./claude/claude-backend.js');
      const set = settings as import('./claude/claude-settings.js').ClaudeSettings | undefined;
      return createClaudeBackend({ settings: set, env, allowEnv, folder });
    },
    settings: async () => (await import('./claude/claude-settings.js')).claudeSettings,
    anchor: (settings, folder) =>
      anchorFields(settings as import('./claude/claude-settings.js').ClaudeSettings, folder, {
        programs: ['executable'],
        files: ['mcpConfig', 'addDirs'],
      }),
  },
  codex: {
    detected: true,
    keys: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
    async make({ settings, env, allowEnv, folder }) {
      const { createCodexBackend } = await import('./codex/codex-backend.js');
      return createCodexBackend({
        settings: settings as import('./codex/codex-settings.js').CodexSettings | undefined,
        env,
        allowEnv,
        folder,
      });
    },
    settings: async () => (await import('./codex/codex-settings.js')).codexSettings,
    anchor: (settings, folder) =>
      anchorFields(settings as import('./codex/codex-settings.js').CodexSettings, folder, { programs: ['executable'] }),
  },
  acp: {
    takes: 'command',
    many: true,
    detected: true,
    presets: ACP_PRESETS,
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    async make({ command, settings, env, allowEnv, folder }) {
      const { createAcpBackend } = await import('./acp/acp-backend.js');
      const { parseCommandLine } = await import('./command/parse-command-line.js');
      const set = settings as import('./acp/acp-settings.js').AcpSettings | undefined;
      const [program = '', ...args] = typeof command === 'string' ? parseCommandLine(command) : (command ?? []);
      return createAcpBackend({ settings: set ?? { command: program, args }, env, allowEnv, folder });
    },
    settings: async () => (await import('./acp/acp-settings.js')).acpSettings,
    anchor: (settings, folder) =>
      anchorFields(settings as import('./acp/acp-settings.js').AcpSettings, folder, { programs: ['command'] }),
  },
  'ai-sdk': {
    detected: true,
    needsModel: true,
    keys: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
    async make({ settings, env, folder }) {
      const { createAiSdkBackend } = await import('./ai-sdk/ai-sdk-backend.js');
      return createAiSdkBackend({
        settings: settings as import('./ai-sdk/ai-sdk-settings.js').AiSdkSettings | undefined,
        env,
        folder,
      });
    },
    settings: async () => (await import('./ai-sdk/ai-sdk-settings.js')).aiSdkSettings,
  },
  command: {
    takes: 'command',
    many: true,
    async make({ command, settings, env, allowEnv, folder }) {
      const { createCommandBackend } = await import('./command/command-backend.js');
      const { parseCommandLine } = await import('./command/parse-command-line.js');
      const set = settings as import('./command/command-settings.js').CommandSettings | undefined;
      const argv = set?.argv ?? (typeof command === 'string' ? parseCommandLine(command) : (command ?? []));
      return createCommandBackend({ argv, env, allowEnv: [...(allowEnv ?? []), ...(set?.env ?? [])], folder });
    },
    settings: async () => (await import('./command/command-settings.js')).commandSettings,
    anchor(settings, folder) {
      const set = settings as import('./command/command-settings.js').CommandSettings;
      const [program = '', ...args] = set.argv;
      return { ...set, argv: [anchorProgram(program, folder), ...args] };
    },
  },
  mock: {
    takes: 'mock',
    madeUp: true,
    async make({ mock, folder }) {
      const { createMockBackend } = await import('./mock/mock-backend.js');
      return await createMockBackend(mock === undefined ? {} : { file: resolve(folder ?? '.', mock) });
    },
  },
};
