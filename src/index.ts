/**
 * The library: everything that the command `wf` does, as functions.
 *
 * @example
 * import { runWorkflow } from 'wf-engine'
 * const { status, result } = await runWorkflow({ script: 'review.js', args: { files: ['src/index.ts'] }, backend: 'mock' })
 */
export {
  type AgentAnswer,
  type AgentBackend,
  type AgentEvent,
  type AgentRequest,
  type AgentRunContext,
  type BackendCapabilities,
  BackendError,
  type BackendErrorKind,
  defineBackend,
  type LeftProcess,
  type Permission,
  type ProbeResult,
} from './agents/backend.js';
export { parseCommandLine } from './agents/command/parse-command-line.js';
export { checkWorkflowFile } from './api/check-workflow.js';
export { type LoggedEvent, readRunEvents, type WatchedEnd, watchRun } from './api/follow-run.js';
export { type ExplainedCall, explainRun } from './api/explain-run.js';
export { findLeftWorktrees, type LeftWorktree } from './api/left-worktrees.js';
export { planResume, type ResumePlan } from './api/plan-resume.js';
export { pruneOldRuns } from './api/prune-old-runs.js';
export type { CallDetail, CallView } from './api/call-view.js';
export { findCall } from './api/find-call.js';
export { listRuns, type ReadRun, type RunView, readRun } from './api/read-run.js';
export { readSettings, type SettingReport } from './api/read-settings.js';
export type { RunResult, RunSettings, RunWorkflowOptions } from './api/run-options.js';
export {
  type DoctorFinding,
  type DoctorOptions,
  type DoctorReport,
  type DoctorStep,
  runDoctor,
} from './api/run-doctor.js';
export { runWorkflow } from './api/run-workflow.js';
export type { RunHandle } from './api/run-parts.js';
export { startWorkflow } from './api/start-run.js';
export { retryCall, type SteerReport, skipCall } from './api/steer-call.js';
export { type StopOptions, type StopReport, stopRun } from './api/stop-run.js';
export { type CaseReport, testWorkflow, type TestOptions, type TestReport } from './api/test-workflow.js';
export type { CallWorktree, EventListener, Failure, PhaseCounts, Reporter, RunEvent } from './engine/events.js';
export type { PruneReport } from './runs/prune-runs.js';
export type { RunSummary } from './runs/run-status.js';
export type { ScriptFault } from './script/checked-script.js';
export { type ErrorCode, WfError } from './shared/errors.js';
export type { Difference } from './shared/diff-json.js';
export type { CallStatus, CallUsage, Counts, ErrorRecord, KeptWorktree, RunStatus, Usage } from './shared/outcome.js';
