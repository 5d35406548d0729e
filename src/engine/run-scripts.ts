/** The scripts of one run: its own and those of child workflows, as they are recorded, and as errors point into them. */
import type { ScriptEntry } from '../journal/entry.js';
import type { CheckedScript } from '../script/checked-script.js';
import type { OpenWorkflow } from './engine-options.js';
import type { DownHead } from './sandbox/frames.js';
import { forSandbox } from './start-frame.js';

export interface RunScripts {
  /** Text by file name, for the places that errors name. */
  readonly sources: ReadonlyMap<string, string>;
  /** What the sandbox is told of the child workflow that it asked for; undefined once the run has ended meanwhile. */
  open(reference: { name: string } | { scriptPath: string }): Promise<DownHead | undefined>;
}

export interface ScriptPorts {
  own: CheckedScript;
  /** As the source run had them. */
  recorded: Map<string, { source: string; path: string | null }>;
  openWorkflow: OpenWorkflow;
  isEnding(): boolean;
  /** A child that is not recorded as it is now. */
  record(script: Pick<ScriptEntry, 'name' | 'path' | 'sha256' | 'source'>): void;
}

export function createRunScripts({ own, recorded, openWorkflow, isEnding, record }: ScriptPorts): RunScripts {
  const sources = new Map([[own.filename, own.source]]);
  return {
    sources,
    async open(reference) {
      const opened = await openWorkflow(reference, recorded);
      if (isEnding()) return undefined;
      if (!opened.ok) return { t: 'workflow', ...opened };
      const { script, id, path } = opened;
      sources.set(script.filename, script.source);
      if (recorded.get(id)?.source !== script.source) {
        recorded.set(id, { source: script.source, path });
        record({ name: id, path, sha256: script.sha256, source: script.source });
      }
      return { t: 'workflow', ok: true, script: forSandbox(script), name: script.meta.name };
    },
  };
}
