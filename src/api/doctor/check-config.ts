/** The config, where each setting comes from, and which backends can work here. Asks no model. */
import { listBackends, listNamedBackends } from '../../agents/choose-backend.js';
import { listDetectable, lookAtBackend } from '../../agents/detect-backend.js';
import { SHORTEST_SECRET } from '../../agents/mask-secrets.js';
import { type Config, loadConfig } from '../../config/load-config.js';
import { describeMisspeltVariables } from '../../config/misspelt-variables.js';
import { WfError } from '../../shared/errors.js';
import { listSettings, type SettingReport } from '../read-settings.js';
import type { DoctorCheck, DoctorContext, Finding } from './finding.js';

export const checkConfig: DoctorCheck = {
  name: 'config',
  title: 'Config and backends',
  async look({ places }) {
    let config: Config;
    let settings: SettingReport[];
    try {
      config = await loadConfig(places);
      settings = listSettings(places, config);
    } catch (error) {
      if (!WfError.is(error)) throw error;
      return [error, ...error.others].map(tellFault);
    }
    return [
      ...tellSettings(config, settings),
      ...describeMisspeltVariables(places.env, config).map((message): Finding => ({ status: 'warn', message })),
      ...tellSecrets(config, places.env),
      ...(await tellBackends(places, config, settings)),
    ];
  },
};

function tellFault({ message, remedy, place }: WfError): Finding {
  const at = place?.line === undefined ? '' : `:${place.line}:${place.column}`;
  const where = place?.file === undefined ? '' : `${place.file}${at}: `;
  return {
    status: 'fault',
    message: `${where}${message}`,
    ...(remedy === undefined ? {} : { remedy }),
    ...(place?.file === undefined ? {} : { path: place.file }),
  };
}

function tellSettings({ files }: Config, settings: readonly SettingReport[]): Finding[] {
  const read = files.length === 0 ? 'There is no config.' : `Read ${files.join(', then ')}.`;
  const set = settings.filter(({ source }) => source.from !== 'default');
  const rest = set.length === 0 ? 'Every setting has its default.' : 'The other settings have their defaults.';
  return [
    { status: 'ok', message: read },
    ...set.map(({ key, value, source }): Finding => {
      return { status: 'ok', message: `${key}: ${wordValue(key, value)}, from ${source.place ?? source.from}` };
    }),
    { status: 'ok', message: rest },
  ];
}

function wordValue(key: string, value: SettingReport['value']): string {
  if (value === null) return 'none';
  if (/timeout$/i.test(key)) return `${Number(value) / 1000} s`;
  return /^(memory|minFreeMem)$/.test(key) ? `${value} MB` : String(value);
}

function tellSecrets({ data }: Config, env: Readonly<Record<string, string | undefined>>): Finding[] {
  if (data.secrets === undefined) return [];
  const isShort = (name: string): boolean => (env[name]?.length ?? SHORTEST_SECRET) < SHORTEST_SECRET;
  const short = data.secrets.filter((name) => env[name] && isShort(name));
  const names = data.secrets
    .filter((name) => !short.includes(name))
    .map((name) => `${name} (${env[name] ? 'set' : 'not set'})`);
  const masked: Finding[] =
    names.length === 0 ? [] : [{ status: 'ok', message: `Secrets that are masked: ${names.join(', ')}` }];
  if (short.length === 0) return masked;
  const message = `Secrets that are not masked, since values under ${SHORTEST_SECRET} characters stand in ordinary text too often: ${short.join(', ')}.`;
  return [...masked, { status: 'warn', message, remedy: 'Use a longer value.' }];
}

async function tellBackends(
  places: DoctorContext['places'],
  { data }: Config,
  settings: readonly SettingReport[],
): Promise<Finding[]> {
  const settingOf = (key: string) => settings.find((setting) => setting.key === key);
  const chosen = settingOf('backend');
  const model = settingOf('model')?.value ?? undefined;
  const options = { env: places.env as NodeJS.ProcessEnv, folder: places.cwd };
  const looks = await Promise.all(
    listNamedBackends(data.backends).map(async (known) => {
      const { look, backend } = await lookAtBackend(known, options, data.backends, model as string | undefined);
      await backend?.close?.();
      return look;
    }),
  );
  const findings = looks.flatMap((look): Finding[] => {
    if (look.ok) return [{ status: 'ok', message: `${look.name} can work here: ${look.version}` }];
    if (look.name !== chosen?.value) return [];
    return [
      {
        status: 'warn',
        message: `${look.name} cannot work here: ${look.reason.replace(/\.$/, '')}.`,
        remedy: look.fix,
      },
    ];
  });
  const rest = looks.flatMap((look) =>
    look.ok || look.name === chosen?.value ? [] : [`${look.name} (${look.reason.replace(/\.$/, '')})`],
  );
  if (rest.length > 0) findings.push({ status: 'ok', message: `Not to be had here: ${rest.join('; ')}` });
  return [...findings, tellChoice(chosen, data.backends, looks)];
}

function tellChoice(
  chosen: SettingReport | undefined,
  backends: Config['data']['backends'],
  looks: readonly { name: string; ok: boolean }[],
): Finding {
  if (typeof chosen?.value === 'string') {
    const { value, source } = chosen;
    const from = source.place ?? source.from;
    const names = listBackends(backends).map(({ name }) => name);
    if (names.includes(value)) return { status: 'ok', message: `A run would take ${value}, from ${from}.` };
    const message = `There is no backend named ${JSON.stringify(value)}, which ${from} asks for.`;
    return { status: 'warn', message, remedy: `Known backends: ${names.join(', ')}.` };
  }
  const able = new Set(looks.flatMap(({ name, ok }) => (ok ? [name] : [])));
  const first = listDetectable(backends).find(({ name }) => able.has(name));
  if (first !== undefined)
    return {
      status: 'ok',
      message: `A run would take ${first.name}: none is chosen, and it is the first that can work here.`,
    };
  return {
    status: 'note',
    message: 'No backend is chosen, and none that is looked for can work here.',
    remedy: 'Choose one with --backend, WF_BACKEND or the config.',
  };
}
