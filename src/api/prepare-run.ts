/** Everything that is read and checked before anything is started: after this a run can begin, and nothing was written. */
import { availableParallelism, homedir } from 'node:os';
import { resolve } from 'node:path';
import { findSecret, type Secrets } from '../agents/mask-secrets.js';
import { describeBackendChanges, digestBackends } from '../config/backend-changes.js';
import { describeAliasChanges } from '../config/model-aliases.js';
import { collectSecrets } from '../config/collect-secrets.js';
import { type Config, loadConfig } from '../config/load-config.js';
import { describeMisspeltVariables } from '../config/misspelt-variables.js';
import { findProjectRoot, resolveRunsFolder } from '../runs/project-root.js';
import type { RunOptions } from '../runs/records.js';
import type { CheckedScript } from '../script/checked-script.js';
import { findWorkflow } from '../script/find-workflow.js';
import { loadScript, type ScriptLanguage } from '../script/load-script.js';
import { canonicalJson } from '../shared/canonical-json.js';
import { WfError } from '../shared/errors.js';
import { readRegularFile } from '../shared/regular-file.js';
import { checkGiven } from './check-given.js';
import { currentFolder } from './current-folder.js';
import { describeLimitChanges } from './limit-changes.js';
import { type ResolvedOptions, resolveRunOptions, type RunWorkflowOptions } from './run-options.js';
import { describeOtherProject, findStartFolder } from './start-folder.js';
import { readSourceRun, refuseWithoutSource, type SourceRun } from './source-run.js';
import { wayInside } from '../shared/way-inside.js';

export interface Places {
  cwd: string;
  home: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Project root. */
  root: string;
  runsFolder: string;
  /** Where runs are looked for, the own folder first. */
  readFolders: [string, ...string[]];
}

export interface PreparedRun {
  places: Places;
  script: CheckedScript;
  language: ScriptLanguage;
  /** Absolute path of the script's file; null for text. */
  scriptPath: string | null;
  /** A resume was given a script, so children are read from the disk again. */
  scriptGiven: boolean;
  argsJson: string | undefined;
  /** Absolute. */
  startFolder: string;
  config: Config;
  prices: RunWorkflowOptions['prices'];
  /** Values that must not be written anywhere, by the names of their variables. */
  secrets: Secrets;
  options: RunOptions;
  /** Where each run-wide setting comes from. */
  sources: ResolvedOptions['sources'];
  source: SourceRun | undefined;
  notices: string[];
}

export function findPlaces(given: Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env' | 'runsDir'>): Places {
  const cwd = resolve(given.cwd ?? currentFolder());
  const env = given.env ?? process.env;
  const home = given.home ?? env.HOME ?? homedir();
  const found = resolveRunsFolder({ cwd, home, runsDir: given.runsDir ?? env.WF_RUNS_DIR });
  return {
    cwd,
    home,
    env,
    root: findProjectRoot(cwd, home),
    runsFolder: found.runsFolder,
    readFolders: [found.runsFolder, ...found.alsoRead],
  };
}

/** @throws WfError for everything that keeps the run from starting */
export async function prepareRun(given: RunWorkflowOptions): Promise<PreparedRun> {
  checkGiven(given);
  const places = findPlaces(given);
  if (given.resumeFrom === undefined) refuseWithoutSource(given);
  const source = given.resumeFrom === undefined ? undefined : readSourceRun(given.resumeFrom, places.readFolders);
  const record = source?.record;
  const startFolder = findStartFolder(places, source);
  const config = await loadConfig({ ...places, cwd: startFolder });
  const { options, sources } = resolveRunOptions(given, record, places.env, config, availableParallelism());
  if (config.data.models !== undefined) options.models = config.data.models;
  options.backendSettings = digestBackends(config.data.backends, places.root);
  const { script, language, path } = await readScript(given, places, source);
  const hasArgs = given.hasArgs ?? given.args !== undefined;
  const args = hasArgs ? given.args : record?.args;
  const prepared: PreparedRun = {
    places,
    script,
    language,
    scriptPath: path,
    scriptGiven: given.script !== undefined || given.source !== undefined,
    argsJson: args === undefined ? undefined : argsText(args),
    startFolder,
    config,
    options,
    sources,
    secrets: collectSecrets(config, places.env),
    prices: given.prices ?? config.data.prices,
    source,
    notices: describeMisspeltVariables(places.env, config),
  };
  refuseSecrets(prepared);
  if (source !== undefined)
    prepared.notices.push(...describeOtherProject(places, source), ...findDifferences(prepared, source));
  return prepared;
}

/** Largest args, bytes of JSON text. */
const MAX_ARGS_BYTES = 16 << 20;

function argsText(args: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(args);
  } catch (error) {
    throw new WfError(
      'WF_ARGS',
      `The args are no JSON value: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
  if (text === undefined) throw new WfError('WF_ARGS', `The args are no JSON value but a ${typeof args}.`);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_ARGS_BYTES) return text;
  throw new WfError('WF_ARGS', `The args have ${bytes} bytes of JSON; the limit is ${MAX_ARGS_BYTES}.`, {
    remedy: 'Hand large data over as a file, and its path in the args.',
  });
}

/** They are written down, and shown, as they are. */
function refuseSecrets({ secrets, argsJson, options }: PreparedRun): void {
  const inArgs = argsJson === undefined ? undefined : findSecret(secrets, argsJson);
  const name = inArgs ?? findSecret(secrets, JSON.stringify(options));
  if (name === undefined) return;
  const what = inArgs === undefined ? 'settings of the run, such as its command,' : 'args';
  throw new WfError(
    inArgs === undefined ? 'WF_USAGE' : 'WF_ARGS',
    `The ${what} hold the value of ${name}, a secret: they would be written into the run folder.`,
    {
      remedy: 'Let the agent read it from its environment, and name the variable in the settings of the backend.',
    },
  );
}

async function readScript(
  given: RunWorkflowOptions,
  places: Places,
  source: SourceRun | undefined,
): Promise<{ script: CheckedScript; language: ScriptLanguage; path: string | null }> {
  if (given.source !== undefined) {
    const script = await loadScript(given.source.text, { filename: given.source.filename });
    return { script, language: given.source.filename.endsWith('ts') ? 'ts' : 'js', path: null };
  }
  if (given.script !== undefined) {
    const found = findWorkflow(given.script, places);
    const filename = nameFrom(places.cwd, found.path);
    const script = await loadScript(found.source, { filename, language: found.language });
    return { script, language: found.language, path: found.path };
  }
  if (source === undefined) {
    throw new WfError('WF_USAGE', 'No script was named.', {
      remedy: 'wf run <script | name>, or wf run --resume-from <uuid>.',
    });
  }
  const { path, language } = source.record.script;
  const script = await loadScript(source.readScript(), { filename: path ?? `workflow.${language}`, language });
  return { script, language, path: path === null ? null : resolve(places.root, path) };
}

function differsOnDisk(path: string, stored: string): boolean {
  try {
    return readRegularFile(path) !== stored;
  } catch {
    return false; // gone, or no file: the stored script is what there is
  }
}

/** Relative to the start folder where it lies inside, else as it is. */
const nameFrom = (cwd: string, path: string): string => wayInside(cwd, path) || path;

function findDifferences(run: PreparedRun, source: SourceRun): string[] {
  const { record } = source;
  const notices: string[] = [];
  const isPrefix = run.options.match === 'prefix';
  if (isPrefix && record.options.match === 'prefix')
    notices.push(
      '--match prefix holds, as in the source run: behind the first call that is not answered nothing is reused. --match content would reuse what has the same text.',
    );
  if (!run.scriptGiven && run.scriptPath !== null && differsOnDisk(run.scriptPath, source.readScript())) {
    notices.push(
      `${nameFrom(run.places.cwd, run.scriptPath)} has changed since; the stored script runs. Name the file to run it as it is now.`,
    );
  }
  if (run.script.sha256 !== record.script.sha256) {
    notices.push(
      isPrefix
        ? 'The script differs from the one of the source run: calls before the first new or changed one are reused, everything behind it runs.'
        : 'The script differs from the one of the source run: calls whose text is the same are reused, changed ones run.',
    );
  }
  const oldArgs = record.args === undefined ? undefined : canonicalJson(record.args);
  const newArgs = run.argsJson === undefined ? undefined : canonicalJson(JSON.parse(run.argsJson));
  if (oldArgs !== newArgs)
    notices.push(
      `The args differ from those of the source run: ${isPrefix ? 'from the first call whose text changed by that everything runs' : 'only calls whose text changed by that run'} again.`,
    );
  for (const name of ['backend', 'model', 'effort', 'permission'] as const) {
    const [before, now] = [record.options[name], run.options[name]];
    if (before === now) continue;
    notices.push(
      `The ${name} is now ${String(now ?? 'the default')}; the source run had ${before === '' ? 'none' : String(before ?? 'the default')}. Reused answers keep theirs.`,
    );
  }
  notices.push(...describeLimitChanges(record.options, run.options));
  notices.push(...describeAliasChanges(record.options.models, run.options.models));
  notices.push(...describeBackendChanges(record.options.backendSettings, run.options.backendSettings ?? {}));
  for (const name of ['command', 'mock', 'match'] as const) {
    const [before, now] = [record.options[name], run.options[name]];
    if (canonicalJson(before ?? null) === canonicalJson(now ?? null) || record.options.backend !== run.options.backend)
      continue;
    notices.push(`The setting ${name} differs from that of the source run. Reused answers stay as they are.`);
  }
  if (record.versions.node.split('.')[0] !== process.version.split('.')[0]) {
    notices.push(
      `This is Node ${process.version}, the source run had ${record.versions.node}: prompts made with toLocaleString or Intl may differ.`,
    );
  }
  return notices;
}
