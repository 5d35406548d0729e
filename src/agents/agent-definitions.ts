/**
 * Agent definitions: Markdown files with front matter under `.claude/agents`, of the project and of the user. They are
 * read as data only; a front matter never names a parser.
 */
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { messageOf, WfError } from '../shared/errors.js';
import { readFrontMatter } from './front-matter.js';
import { statIfThere } from '../shared/stat-if-there.js';

export interface AgentDefinition {
  name: string;
  /** Path of the file, for people. */
  file: string;
  /** sha256 of the file's bytes, hex: part of the key of each call that names this definition. */
  digest: string;
  description: string | undefined;
  /** The body: system prompt. */
  prompt: string;
  model: string | undefined;
  effort: string | undefined;
  tools: readonly string[] | undefined;
  disallowedTools: readonly string[] | undefined;
}

export interface DefinitionPlaces {
  /** Absolute. */
  cwd: string;
  /** Last folder, upwards from `cwd`, that is looked in. */
  root: string;
  home: string | undefined;
}

/** Agent types that scripts name without a file: those of Claude Code. */
export const BUILT_IN_AGENT_TYPES: ReadonlySet<string> = new Set([
  ...['general-purpose', 'claude', 'Explore', 'Plan', 'statusline-setup', 'output-style-setup', 'claude-code-guide'],
  'workflow-subagent',
]);

/** True for a type that needs no definition file: a built-in one, or one of a plugin (`plugin:name`). */
export const isBuiltInAgentType = (name: string): boolean => BUILT_IN_AGENT_TYPES.has(name) || /^[^:\s]+:\S/.test(name);

const MAX_BYTES = 1_000_000;
const MAX_DEPTH = 10;

/**
 * Reads all definitions: `.claude/agents/**\/*.md` from `cwd` up to `root`, closest first, then those of `home`.
 *
 * @throws WfError `WF_AGENT_DEFINITION` when one folder holds two of one name, or a file cannot be read
 */
export async function loadAgentDefinitions(places: DefinitionPlaces): Promise<Map<string, AgentDefinition>> {
  const found = new Map<string, AgentDefinition>();
  for (const folder of definitionFolders(places)) {
    const here = new Map<string, AgentDefinition>();
    for (const file of listMarkdown(folder, MAX_DEPTH)) {
      const definition = await readDefinition(file);
      const other = here.get(definition.name);
      if (other) {
        throw new WfError(
          'WF_AGENT_DEFINITION',
          `Two agent definitions are named ${definition.name}: ${other.file} and ${file}.`,
          {
            remedy: 'Rename or remove one of them.',
            place: { file },
          },
        );
      }
      here.set(definition.name, definition);
    }
    for (const [name, definition] of here) if (!found.has(name)) found.set(name, definition);
  }
  return found;
}

function definitionFolders({ cwd, root, home }: DefinitionPlaces): Set<string> {
  const folders = new Set([join(cwd, '.claude', 'agents')]);
  const isInside = relative(root, cwd).split(sep)[0] !== '..';
  for (let folder = cwd; isInside && folder !== root; folder = dirname(folder)) {
    folders.add(join(folder, '.claude', 'agents'));
  }
  folders.add(join(root, '.claude', 'agents'));
  if (home !== undefined) folders.add(join(home, '.claude', 'agents'));
  return folders;
}

/** In order of name, so that every machine reads them alike. Links to files are followed, links to folders are not. */
function listMarkdown(folder: string, depth: number): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return depth > 0 ? listMarkdown(path, depth - 1) : [];
      if (!entry.name.endsWith('.md')) return [];
      return statIfThere(path)?.isFile() ? [path] : [];
    });
}

async function readDefinition(file: string): Promise<AgentDefinition> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new WfError('WF_AGENT_DEFINITION', `An agent definition cannot be read: ${messageOf(error)}.`, {
      remedy: 'Make it a readable file, or remove it.',
      place: { file },
    });
  }
  if (bytes.length > MAX_BYTES) {
    throw new WfError('WF_AGENT_DEFINITION', `The agent definition ${file} is larger than ${MAX_BYTES} bytes.`, {
      remedy: 'Let it name files that the agent reads, or remove it.',
      place: { file },
    });
  }
  const { fields, body } = await readFrontMatter(bytes.toString('utf8'));
  const model = asText(fields.model);
  return {
    name: asText(fields.name) ?? basename(file, '.md'),
    file,
    digest: createHash('sha256').update(bytes).digest('hex'),
    description: asText(fields.description),
    prompt: body,
    model: model === 'inherit' ? undefined : model,
    effort: asText(fields.effort),
    tools: asNames(fields.tools),
    disallowedTools: asNames(fields.disallowedTools),
  };
}

function asText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
  return text === '' ? undefined : text;
}

/** A list, or texts parted by commas outside of brackets: `Read, Bash(git log:*, git diff:*)`. */
function asNames(value: unknown): string[] | undefined {
  if (Array.isArray(value)) return value.flatMap((item) => asText(item) ?? []);
  if (typeof value !== 'string') return undefined;
  return (value.match(/(?:\([^)]*\)|[^,(])+/g) ?? []).flatMap((item) => asText(item) ?? []);
}
