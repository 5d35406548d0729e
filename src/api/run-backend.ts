/** The backend of a run: known by its name from the start, and made once when it is needed. */
import type { AgentBackend } from '../agents/backend.js';
import type { PreparedRun } from './prepare-run.js';

/** What a backend of the run is made from. */
export type BackendInputs = Pick<
  PreparedRun,
  'options' | 'sources' | 'source' | 'script' | 'argsJson' | 'startFolder' | 'config' | 'places'
>;

export interface RunBackend {
  /** Empty where there is none: only calls that name theirs can be executed. */
  name: string;
  madeUp: boolean;
  /** How it was found, where nobody had chosen one. */
  why?: string;
  /** @throws WfError what keeps it from being made */
  open(): AgentBackend | Promise<AgentBackend>;
  close(): Promise<void>;
}

export const holdBackend = (backend: AgentBackend, why?: string): RunBackend => ({
  name: backend.name,
  madeUp: backend.capabilities.madeUp === true,
  ...(why === undefined ? {} : { why }),
  open: () => backend,
  close: async () => backend.close?.(),
});

export function openLater(name: string, madeUp: boolean, make: () => Promise<AgentBackend>): RunBackend {
  let opening: Promise<AgentBackend> | undefined;
  let opened: AgentBackend | undefined;
  return {
    name,
    madeUp,
    open() {
      if (opened !== undefined) return opened;
      opening ??= make().then((backend) => {
        opened = backend;
        return backend;
      });
      return opening;
    },
    close: async () => opened?.close?.(),
  };
}

export const backendOptions = ({ options, startFolder, places }: BackendInputs) => ({
  command: options.command,
  mock: options.mock,
  env: places.env,
  folder: startFolder,
});
