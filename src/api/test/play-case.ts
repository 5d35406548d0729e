/** Runs the script once on scripted answers, in a runs folder that is gone afterwards, and tells what happened. */
import { type AgentBackend, BackendError } from '../../agents/backend.js';
import { createMockBackend } from '../../agents/mock/mock-backend.js';
import type { Failure } from '../../engine/events.js';
import type { ErrorRecord } from '../../shared/outcome.js';
import { readCalls } from '../read-calls.js';
import { runWorkflow } from '../run-workflow.js';
import type { TestOptions } from '../test-workflow.js';
import type { Answers } from './find-answers.js';
import { makeTestFolder } from './test-folder.js';

export type PlayedCall = {
  label: string;
  phase: string;
  /** Absent for a call that was refused before any backend was asked. */
  prompt?: string | undefined;
};

export interface Played {
  exitCode: number;
  /** Absent when there is none. */
  result?: unknown;
  error?: ErrorRecord | undefined;
  calls: PlayedCall[];
  /** Without those whose question was answered later in the run. */
  failures: Failure[];
  madeUp: string[];
}

/** @throws WfError for what keeps a run from starting */
export async function playCase(
  script: string,
  args: { value: unknown } | undefined,
  answers: Answers,
  given: TestOptions,
): Promise<Played> {
  const prompts = new Map<number, string>();
  const madeUp = new Map<number, string>();
  const backend = await createMockBackend({
    ...answers.rules,
    onMadeUp: ({ n, label }) => madeUp.set(n, label),
  });
  const failures: Failure[] = [];
  const folder = makeTestFolder();
  try {
    const run = await runWorkflow({
      script,
      args: args?.value,
      hasArgs: args !== undefined,
      backend: withoutWaits(backend, prompts),
      runsDir: folder.runsDir,
      cwd: given.cwd,
      home: given.home,
      env: given.env,
      signal: given.signal,
      onEvent: (event) => {
        if (event.type === 'run.finished') failures.push(...event.failures.filter(({ recovered }) => !recovered));
      },
    });
    const calls = readCalls(run.folder, false).calls.map(({ n, label, phase }) => ({
      label,
      phase: phase ?? '',
      prompt: prompts.get(n),
    }));
    return {
      exitCode: run.exitCode,
      ...('result' in run ? { result: run.result } : {}),
      error: run.error,
      calls,
      failures,
      madeUp: answers.rules === undefined ? [] : [...madeUp.values()],
    };
  } finally {
    folder.remove();
  }
}

/** Notes each call's prompt; a try after an error comes at once unless the rule says when. */
function withoutWaits(backend: AgentBackend, prompts: Map<number, string>): AgentBackend {
  return {
    ...backend,
    async run(request, context) {
      if (!prompts.has(request.n)) prompts.set(request.n, request.prompt);
      try {
        return await backend.run(request, context);
      } catch (error) {
        if (!(error instanceof BackendError) || error.retryAfterMs !== undefined) throw error;
        const { kind, message, resetsAt, usage, remedy } = error;
        throw new BackendError(kind, message, { retryAfterMs: 0, resetsAt, usage, remedy, cause: error });
      }
    },
  };
}
