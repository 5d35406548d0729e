/** Executes calls by any program: prompt on stdin, answer on stdout, progress on stderr, outcome by exit code. */
import { basename } from 'node:path';
import { WfError } from '../../shared/errors.js';
import type { AgentAnswer, AgentBackend, AgentRequest, AgentRunContext, BackendCapabilities } from '../backend.js';
import { BackendError } from '../backend.js';
import { agentEnvironment } from '../agent-environment.js';
import { findProgram } from '../find-program.js';
import { anchorProgram } from '../anchor-paths.js';
import type { ProgramOptions } from '../program-options.js';
import { tooLarge } from '../run-attempt.js';
import { describeStartFailure } from '../start-failure.js';
import { describeExit } from './exit-meaning.js';
import { createStderrReader } from './read-stderr.js';
import { runCommand } from '../run-command.js';
import { tellLeftovers } from '../run-turn.js';
import { writeSchemaFile } from '../schema-file.js';

export interface CommandOptions extends ProgramOptions {
  /** Program and arguments. A program with a slash is found from `folder`. */
  argv: readonly string[];
  /** Longest time between SIGTERM and SIGKILL, ms, where the call's own is longer. */
  graceMs?: number;
}

const CAPABILITIES: BackendCapabilities = {
  schema: 'requested',
  tools: false,
  sessions: false,
  usd: true,
  permissions: ['read', 'edit', 'full'],
};

/**
 * Makes the `command` backend.
 *
 * @throws WfError `WF_BACKEND_CONFIG` when no program is named
 * @example createCommandBackend({ argv: ['my-agent', '--print'] })
 */
export function createCommandBackend(options: CommandOptions): AgentBackend {
  const [program, ...args] = options.argv;
  if (!program) {
    throw new WfError('WF_BACKEND_CONFIG', 'The backend command names no program.', {
      remedy: `Name it: --backend command --command '<program and arguments>'.`,
    });
  }
  const source = options.env ?? process.env;
  const argv = [anchorProgram(program, options.folder ?? '.'), ...args];
  const name = basename(program);
  // What one line of it gets wrong, all of them probably do.
  let isOddUsageTold = false;
  const tellOddUsage = (line: string, context: AgentRunContext): void => {
    if (isOddUsageTold) return;
    isOddUsageTold = true;
    context.onEvent({
      type: 'warning',
      // The line as a whole and last: a secret in it that was cut would not be masked.
      text: `${name} tells its usage in a line that is not understood, or not wholly. It should look like {"wf":"usage","in":10,"out":20,"usd":0.01}; what has no number there is not counted. Said once a run. The line: ${line}`,
    });
  };
  return {
    name: 'command',
    capabilities: CAPABILITIES,
    async probe() {
      const path = findProgram(argv[0] as string, source.PATH ?? '');
      if (path !== undefined) return { ok: true, version: path };
      return {
        ok: false,
        reason: `${program} was not found or cannot be executed`,
        fix: 'Install it, or correct --command.',
      };
    },
    async run(request, context) {
      if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.');
      const schemaFile = writeSchemaFile(request);
      try {
        const env = agentEnvironment(source, options.allowEnv ?? [], request, schemaFile?.path);
        return await execute(argv, name, env, options.graceMs ?? Number.POSITIVE_INFINITY, request, context, (line) =>
          tellOddUsage(line, context),
        );
      } finally {
        schemaFile?.remove();
      }
    },
  };
}

async function execute(
  argv: readonly string[],
  name: string,
  env: Record<string, string>,
  graceMs: number,
  request: AgentRequest,
  context: AgentRunContext,
  onOddUsage: (line: string) => void,
): Promise<AgentAnswer> {
  const stderr = createStderrReader((event) => context.onEvent(event), onOddUsage);
  const end = await runCommand({
    argv,
    cwd: request.cwd,
    env,
    input: Buffer.from(request.agent ? `${request.agent.prompt.trimEnd()}\n\n${request.prompt}` : request.prompt),
    maxBytes: context.maxAnswerBytes,
    signal: context.signal,
    graceMs: () => Math.min(graceMs, context.graceMs),
    onStderr: (chunk) => stderr.push(chunk),
    onProcess: (pid) => context.onProcess(pid),
    onProcessEnd: (pid, left) => context.onProcessEnd(pid, left),
  });
  stderr.end();
  const { usage } = stderr;
  if (end.startError !== undefined) throw describeStartFailure(name, end.startError, request.cwd, argv[0]);
  if (context.signal.aborted) throw new BackendError('cancelled', 'The call was stopped.', { usage });
  if (end.overflow) {
    const { message, remedy } = tooLarge(context.maxAnswerBytes);
    throw new BackendError('too_large', message, { remedy, usage });
  }
  const text = end.stdout.toString('utf8');
  if (end.exitCode !== 0) throw describeExit(name, end, stderr, text);
  tellLeftovers(name, end.leftovers, context);
  const answer: AgentAnswer = { text: request.schema ? text : text.replace(/\r?\n$/, '') };
  if (usage) answer.usage = usage;
  if (usage && !stderr.tellsOutput) answer.outputUntold = true;
  return answer;
}
