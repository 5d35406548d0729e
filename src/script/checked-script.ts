/** A script that passed every check and is ready to be compiled in an isolate. */
export interface CheckedScript {
  meta: WorkflowMeta;
  /** The source as the user wrote it. */
  source: string;
  /** sha256 of the source's UTF-8 bytes, hex. */
  sha256: string;
  /** Name in stack traces: the path relative to the start folder, or `workflow.js`. */
  filename: string;
  /** One expression: an async function of no arguments. Lines are those of `source`. */
  code: string;
  /** Add to columns of the first line of `code` to get those of `source` (negative: length of the head). */
  columnOffset: number;
  /** Lazily supplied globals that the script may use. */
  names: ReadonlySet<string>;
  warnings: ScriptFault[];
}

export interface WorkflowMeta {
  name: string;
  description: string;
  title?: string;
  whenToUse?: string;
  phases: { title: string; detail?: string; model?: string }[];
}

/** One row of `wf check --json`. Lines and columns count from 1. */
export interface ScriptFault {
  file: string;
  line: number;
  column: number;
  code: string;
  message: string;
  severity: 'error' | 'warning';
  /** Code frame, for people. */
  frame?: string;
  remedy?: string;
}
