/** One place in the user's own script. Line and column count from 1. */
export interface StackFrame {
  /** The function, as the stack names it; absent for the body of the script itself. */
  name?: string;
  line: number;
  column: number;
  /** The frame waited with `await` for the one before it. */
  isAsync: boolean;
}

/**
 * The frames of a guest's stack that lie in the user's script, innermost first; those of the engine, of Node and of
 * isolated-vm are left out. Lines and columns are already the user's, since scripts are compiled with their offset.
 *
 * @param options.filename the name under which the script was compiled
 */
export function mapStack(stack: string, { filename }: { filename: string }): StackFrame[] {
  return stack.split('\n').flatMap((text) => readFrame(text, filename) ?? []);
}

function readFrame(text: string, filename: string): StackFrame | undefined {
  const [, isAsync, rest] = /^\s+at (async )?(.+)$/.exec(text) ?? [];
  if (rest === undefined) return undefined;
  const [, before, line, column] = /^(.*):(\d+):(-?\d+)\)?$/.exec(rest) ?? [];
  if (before === undefined || !before.endsWith(filename)) return undefined;
  const lead = before.slice(0, -filename.length);
  // `name (file:1:2)` or `file:1:2`; anything else only ends like the file's name.
  if (lead !== '' && !lead.endsWith(' (')) return undefined;
  const name = lead.slice(0, -2);
  return {
    ...(name && name !== 'workflow' ? { name } : {}),
    line: Number(line),
    // The wrapper's own head stands before column 1.
    column: Math.max(1, Number(column)),
    isAsync: isAsync !== undefined,
  };
}
