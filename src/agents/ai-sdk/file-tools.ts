/** The tools that a model gets: read-only, inside of the call's folder. */
import type { AgentRequest } from '../backend.js';
import { type FileAccess, openFileAccess } from './file-access.js';
import type { AiModule } from './sdk-shapes.js';

interface FileTool {
  description: string;
  parameters: Record<string, { type: string; description: string }>;
  required: string[];
  /** Tools of Claude Code that agent definitions and scripts name for the same. */
  alsoNamed: string[];
  use(access: FileAccess, input: Record<string, unknown>, signal: AbortSignal): Promise<string>;
}

const PATH = { type: 'string', description: 'Path from the working folder, such as src or src/main.ts.' };

const TOOLS: Record<string, FileTool> = {
  list_files: {
    description: 'Lists the files of a folder and all folders below it.',
    parameters: { path: PATH },
    required: [],
    alsoNamed: ['Glob', 'LS'],
    use: (access, { path }, signal) => access.list(String(path ?? '.'), signal),
  },
  read_file: {
    description: 'Reads a text file, from a line on if it is long.',
    parameters: { path: PATH, fromLine: { type: 'integer', description: 'First line to read, from 1.' } },
    required: ['path'],
    alsoNamed: ['Read'],
    use: (access, { path, fromLine }, signal) => access.read(String(path ?? ''), Number(fromLine ?? 1) || 1, signal),
  },
  search_files: {
    description: 'Finds the lines of all files below a folder that hold a text, exactly as it is written.',
    parameters: { text: { type: 'string', description: 'The text; no pattern.' }, path: PATH },
    required: ['text'],
    alsoNamed: ['Grep'],
    use: (access, { text, path }, signal) => access.search(String(text ?? ''), String(path ?? '.'), signal),
  },
};

/** The tools for one call, or `undefined` when it may use none. */
export function makeFileTools(ai: AiModule, request: AgentRequest): Record<string, unknown> | undefined {
  const allowed = request.tools ?? request.agent?.tools;
  const denied = request.disallowedTools ?? request.agent?.disallowedTools ?? [];
  const names = Object.keys(TOOLS).filter(
    (name) => (allowed === undefined || isNamed(name, allowed)) && !isNamed(name, denied),
  );
  if (names.length === 0) return undefined;
  const access = openFileAccess(request.cwd);
  return Object.fromEntries(
    names.map((name) => {
      const { description, parameters, required, use } = TOOLS[name] as FileTool;
      const inputSchema = ai.jsonSchema({
        type: 'object',
        properties: parameters,
        required,
        additionalProperties: false,
      });
      const execute = (input: Record<string, unknown>, { abortSignal }: { abortSignal: AbortSignal }) =>
        use(access, input ?? {}, abortSignal);
      return [name, ai.tool({ description, inputSchema, execute })];
    }),
  );
}

function isNamed(name: string, list: readonly string[]): boolean {
  const names = [name, ...(TOOLS[name] as FileTool).alsoNamed];
  // `Read(src/**)` limits the tool to paths, which is not done here: only the bare name allows or denies it.
  return list.some((entry) => names.includes(entry.trim()));
}
