/** Calls that ask for a worktree of their own. What it takes is loaded for the first of them: most runs have none. */
import type { AgentBackend } from '../agents/backend.js';
import type { IsolatedCall } from '../agents/worktree/isolate-call.js';
import type { RunWorktrees, WorktreeSignals } from '../agents/worktree/run-worktrees.js';
import type { EngineOptions, LiveCall } from './engine-options.js';
import type { UntimedEvent } from './run-voice.js';

export interface CallIsolation {
  /** Resolves when no worktree is left that was to go. */
  idle(): Promise<void>;
  open(backend: AgentBackend, call: LiveCall): Promise<IsolatedCall>;
}

/** Made-up answers touch no file, so they need no worktree. */
export const needsWorktree = (backend: AgentBackend, call: LiveCall): boolean =>
  call.options?.isolation === 'worktree' && backend.capabilities.madeUp !== true;

export function createCallIsolation(
  options: EngineOptions,
  signals: WorktreeSignals,
  tell: (event: UntimedEvent) => void,
): CallIsolation {
  let worktrees: Promise<RunWorktrees> | undefined;
  const load = async (): Promise<RunWorktrees> => {
    const { createRunWorktrees } = await import('../agents/worktree/run-worktrees.js');
    const { onProcess, onProcessEnd } = options;
    return createRunWorktrees(
      { ...options.worktrees(), onProcess, onProcessEnd },
      options.runId,
      signals,
      ({ n, label }, news) => tell({ type: 'call.worktree', n, label, ...news }),
      (code, message) => tell({ type: 'warning', code, message }),
    );
  };
  return {
    async idle() {
      await (await worktrees)?.idle();
    },
    async open(backend, call) {
      worktrees ??= load();
      return (await worktrees).isolate(backend, call);
    },
  };
}
