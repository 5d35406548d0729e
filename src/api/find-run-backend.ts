/** Chooses the backend of a run where nobody has, and says how. */
import { detectBackend } from '../agents/detect-backend.js';
import { WfError } from '../shared/errors.js';
import { type BackendInputs, backendOptions, holdBackend, type RunBackend } from './run-backend.js';

/** @throws WfError `WF_BACKEND_UNKNOWN`, with what was looked at and how to mend each */
export async function findRunBackend(run: BackendInputs): Promise<RunBackend> {
  const { found, looks } = await detectBackend(backendOptions(run), run.config.data.backends, run.options.model);
  const misses = looks.flatMap((look) => (look.ok ? [] : [look]));
  if (found === undefined) {
    const looked = misses.map(({ name, reason }) => `${name}: ${reason.replace(/\.$/, '')}`).join('; ');
    const fixes = misses.map(({ name, fix }) => (fix === '' ? '' : ` For ${name}: ${fix}`)).join('');
    throw new WfError(
      'WF_BACKEND_UNKNOWN',
      `No backend was chosen by --backend, WF_BACKEND or a config, and none was found. Looked for ${looked}.`,
      { remedy: `Choose one with --backend <name>; to try a script without an agent: --dry-run.${fixes}` },
    );
  }
  const version = looks.flatMap((look) => (look.ok ? [look.version] : []))[0];
  const passed = misses.length === 0 ? '' : `; not ${misses.map(({ name }) => name).join(', ')}`;
  run.options.backend = found.name;
  run.sources.backend = { from: 'detection', place: `${found.name} ${version}`.trim() };
  return holdBackend(found, `found ${`${found.name} ${version}`.trim()}${passed}; none was chosen`);
}
