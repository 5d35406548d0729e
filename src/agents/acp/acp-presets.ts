/** Agents that need no entry in the config. An entry of the same name takes the place of the whole preset. */
import type { AcpSettings } from './acp-settings.js';

export const ACP_PRESETS: Readonly<Record<string, AcpSettings>> = {
  gemini: {
    command: 'gemini',
    args: ['--acp'],
    env: [
      ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_PROJECT'],
      ...['GOOGLE_CLOUD_LOCATION', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA', 'GOOGLE_GEMINI_BASE_URL'],
      ...['GOOGLE_VERTEX_BASE_URL', 'GEMINI_CLI_NO_RELAUNCH'],
    ],
    // One argument, so that no name of a model can be taken for a flag.
    modelArgs: ['--model={model}'],
    // Whatever the user's own settings say: in this mode it asks before it changes anything.
    modes: { read: 'default', edit: 'default', full: 'default' },
  },
};
