/** The config of a project and its user as one. Checking it loads more code, so that happens only where there is a file. */
import { type ConfigFile, type ConfigPlaces, readConfigFiles } from './config-files.js';
import type { Config } from './merge-configs.js';

export type { Config };

const EMPTY_CONFIG: Config = { data: {}, files: [], fileOf: () => undefined };

/**
 * Reads and checks the config. Closer files win over farther ones, setting by setting.
 *
 * @throws WfError `WF_CONFIG`
 * @example const { data } = await loadConfig({ cwd, root, home, env })
 */
export async function loadConfig(places: ConfigPlaces): Promise<Config> {
  const files = readConfigFiles(places);
  return files.length === 0 ? EMPTY_CONFIG : await checkAndMerge(files);
}

async function checkAndMerge(files: readonly ConfigFile[]): Promise<Config> {
  const [{ makeConfigSchema }, { checkConfig }, { anchorBackends }, { mergeConfigs }, { checkNames }] =
    await Promise.all([
      import('./config-schema.js'),
      import('./check-config.js'),
      import('./anchor-backends.js'),
      import('./merge-configs.js'),
      import('./check-names.js'),
    ]);
  const schema = await makeConfigSchema();
  const layers = [];
  for (const file of files) {
    layers.push({ file: file.shown, data: anchorBackends(await checkConfig(file, schema), file.folder) });
  }
  const config = mergeConfigs(layers);
  checkNames(config);
  return config;
}
