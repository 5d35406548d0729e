/** What a resume would do, before it does it: nothing is spent and nothing is written. */
import { BUILT_IN_AGENT_TYPES, loadAgentDefinitions } from '../agents/agent-definitions.js';
import { planReplay } from '../engine/plan.js';
import { startSandbox } from '../engine/sandbox-link.js';
import { carryLines } from '../journal/carry.js';
import { createMissExplainer } from '../journal/explain-miss.js';
import { createVoidStore } from '../journal/memory-store.js';
import { describeDamage } from '../journal/read-journal.js';
import type { JournalSource } from '../journal/store.js';
import { WfError } from '../shared/errors.js';
import { chooseBackend } from './choose-run-backend.js';
import type { ExplainedCall } from './explain-run.js';
import { describeFurtherRun } from './further-run.js';
import { createHashDeps } from './hash-deps.js';
import { describeSpentBudget } from './limit-changes.js';
import { createOpenWorkflow } from './open-workflow.js';
import { prepareRun } from './prepare-run.js';
import type { RunWorkflowOptions } from './run-options.js';
import { findSandboxLaunch } from './sandbox-launch.js';
import { openSourceJournal } from './source-run.js';
import { createFateFinder, openLineage } from './started-before.js';

/** Answer of `wf plan --json`. */
export interface ResumePlan {
  /** Nothing would run. */
  complete: boolean;
  hits: number;
  live: number;
  /** Recorded answers that no call has asked for until then. */
  unreached: number;
  calls: ExplainedCall[];
  savedOutputTokens: number;
  savedUsd: number | null;
  notices: string[];
}

/**
 * Replays a run up to the first moment at which something would be dispatched.
 *
 * The resume delivers exactly the hits named here until then, and dispatches exactly the live calls first; what those
 * calls lead to is not known yet.
 *
 * @throws WfError what keeps the resume from starting
 *
 * @example
 * const { hits, live } = await planResume({ resumeFrom: id, script: 'review.js' })
 */
export async function planResume(given: RunWorkflowOptions): Promise<ResumePlan> {
  if (given.resumeFrom === undefined) {
    throw new WfError('WF_USAGE', 'A plan needs a run to go on from.', {
      remedy:
        'wf plan --resume-from <uuid> [script]; what a script that never ran would ask: wf run <script> --dry-run, which spends nothing.',
    });
  }
  const sandbox = startSandbox(findSandboxLaunch(given.env ?? process.env));
  let journal: JournalSource | undefined;
  try {
    const prepared = await prepareRun(given);
    const { places, options, source } = prepared;
    if (source === undefined) throw new WfError('WF_USAGE', 'A plan needs a run to go on from.');
    const backend = await chooseBackend(given, prepared);
    const found = openSourceJournal(source, places.readFolders, given.strict);
    journal = found.journal;
    const carried = carryLines(journal, found.runId, createVoidStore());
    const notices = [...prepared.notices, ...found.notices];
    const damage = describeDamage(carried.damage);
    if (damage !== undefined) notices.push(`The journal of the source run has ${damage}.`);
    if (!backend.madeUp) notices.push(...describeFurtherRun(source, places.readFolders, given.runsDir));
    notices.push(...describeSpentBudget(options, carried));
    const plan = await planReplay({
      script: prepared.script,
      argsJson: prepared.argsJson,
      backend,
      definitions: await loadAgentDefinitions({ cwd: prepared.startFolder, root: places.root, home: places.home }),
      builtInTypes: [...BUILT_IN_AGENT_TYPES],
      anyAgentType: backend.madeUp,
      limits: options,
      projectRoot: places.root,
      startFolder: prepared.startFolder,
      match: options.match,
      carried,
      sandbox,
      openWorkflow: createOpenWorkflow(prepared, (message) => notices.push(message)),
      hashDeps: createHashDeps(places.root, prepared.startFolder, new AbortController().signal, (message) =>
        notices.push(message),
      ),
    });
    const results = carried.lines.filter((line) => line.type === 'result');
    const asked = [...plan.calls, ...plan.further];
    const used = new Set(asked.map((call) => call.result));
    const explainer = createMissExplainer(
      results,
      carried.readEntry,
      (result) => used.has(result),
      createFateFinder(openLineage(found.folder, places.readFolders)),
      {
        prefix: options.match === 'prefix',
        onMock: backend.madeUp,
        liveKeys: asked.flatMap(({ decision, key }) => (decision === 'live' ? [key] : [])),
      },
    );
    const hits = plan.calls.filter((call) => call.decision === 'hit');
    const usd = hits.map((call) => call.result?.usd ?? null).filter((value) => value !== null);
    if (!plan.ended && hits.length === plan.calls.length && plan.timers.size > 0)
      notices.push(
        'Nothing runs first, but the script then waits for a timer; which calls it makes after that is known only when it has fired.',
      );
    return {
      complete: plan.ended && hits.length === plan.calls.length,
      hits: hits.length,
      live: plan.calls.length - hits.length,
      unreached: plan.unreached.length,
      calls: plan.calls.map(({ n, label, phase, path, key, nth, decision, prompt, opts, result }) => ({
        n,
        label,
        phase,
        path,
        key,
        decision,
        reason:
          decision === 'hit'
            ? `recorded in run ${result?.from}`
            : explainer.explain({ n, key, path, nth, label, prompt: prompt ?? '', opts }),
      })),
      savedOutputTokens: hits.reduce((sum, call) => sum + (call.result?.outputTokens ?? 0), 0),
      savedUsd: usd.length === 0 ? null : usd.reduce((sum, value) => sum + value, 0),
      notices: [...notices, ...plan.warnings],
    };
  } finally {
    // Reasons are read from it to the last.
    journal?.close();
    sandbox.kill();
  }
}
