/** Chooses the backend of a run where nobody has, and says how. */
import { type BackendLook, detectBackend } from '../agents/detect-backend.js';
import { mayNameBackend } from '../script/may-name-backend.js';
import { WfError } from '../shared/errors.js';
import { refuseGivenUp } from './give-up-start.js';
import { type BackendInputs, backendOptions, holdBackend, type RunBackend } from './run-backend.js';
import type { RunWorkflowOptions } from './run-options.js';

/**
 * Where there is none, only a run that may need none starts: its calls may name theirs, or have their answers already.
 *
 * @throws WfError `WF_BACKEND_UNKNOWN`, with what was looked at and how to mend each; `WF_CANCELLED`
 */
export async function findRunBackend(
  run: BackendInputs,
  { signal, startSignal }: Pick<RunWorkflowOptions, 'signal' | 'startSignal'>,
): Promise<RunBackend> {
  const givenUp = AbortSignal.any([signal, startSignal].filter((one) => one !== undefined));
  const { backends } = run.config.data;
  const { found, looks } = await detectBackend(backendOptions(run), backends, run.options.model, givenUp);
  if (found === undefined) refuseGivenUp(givenUp);
  const misses = looks.flatMap((look) => (look.ok ? [] : [look]));
  if (found === undefined) {
    if (mayNeedNone(run)) return noBackend(misses);
    throw explainMisses(
      'No backend was chosen by --backend, WF_BACKEND or a config, and none was found.',
      'Choose one with --backend <name>; to try a script without an agent: --dry-run.',
      misses,
    );
  }
  const version = looks.flatMap((look) => (look.ok ? [look.version] : []))[0];
  const passed = misses.length === 0 ? '' : `; not ${misses.map(({ name }) => name).join(', ')}`;
  run.options.backend = found.name;
  run.sources.backend = { from: 'detection', place: `${found.name} ${version}`.trim() };
  return holdBackend(found, `found ${`${found.name} ${version}`.trim()}${passed}; none was chosen`);
}

type Miss = Extract<BackendLook, { ok: false }>;

/** Options of a call may also come from the args. */
const mayNeedNone = ({ source, script, argsJson }: BackendInputs): boolean =>
  source !== undefined || argsJson?.includes('"backend":') === true || mayNameBackend(script.code);

const noBackend = (misses: readonly Miss[]): RunBackend => ({
  name: '',
  madeUp: false,
  why: 'none was chosen and none found; calls have to name theirs',
  open: () =>
    Promise.reject(
      explainMisses(
        'It names no backend, none was chosen by --backend, WF_BACKEND or a config, and none was found.',
        'Name one in the call, or set WF_BACKEND or "backend" of the config for calls that name none; then go on with the run.',
        misses,
      ),
    ),
  close: async () => {},
});

function explainMisses(message: string, remedy: string, misses: readonly Miss[]): WfError {
  const looked = misses.map(({ name, reason }) => `${name}: ${reason.replace(/\.$/, '')}`).join('; ');
  const fixes = misses.map(({ name, fix }) => (fix === '' ? '' : `\n    For ${name}: ${fix}`)).join('');
  return new WfError('WF_BACKEND_UNKNOWN', `${message} Looked for ${looked}.`, { remedy: `${remedy}${fixes}` });
}
