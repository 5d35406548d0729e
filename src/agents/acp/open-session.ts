/** From a started agent to a session that can be asked: handshake, session, mode, model, effort. */
import { VERSION } from '../../shared/version.js';
import { type AgentRequest, BackendError } from '../backend.js';
import type { AcpSettings } from './acp-settings.js';
import type { AgentLink } from './agent-link.js';
import { asObject } from './read-usage.js';
import { FAILURE_EXTENSION } from './reported-failure.js';

type Json = Readonly<Record<string, unknown>>;

export interface OpenedSession {
  id: string;
  /** The model that answers, where the agent says so. */
  model: string | undefined;
}

const PROTOCOL_VERSION = 1;
const MAX_LISTED = 40;

/** The handshake. Gives what the agent says of itself, `<name> <version>`. */
export async function initializeAgent(name: string, link: AgentLink): Promise<string> {
  const answer = await link.request('initialize', {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: 'wf', version: VERSION },
    // Files and commands are the agent's own business: nothing is offered that the permission callback does not see.
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      _meta: FAILURE_EXTENSION,
    },
  });
  if (answer.protocolVersion !== PROTOCOL_VERSION) {
    throw new BackendError(
      'config',
      `${name} speaks version ${JSON.stringify(answer.protocolVersion)} of the Agent Client Protocol; wf speaks version ${PROTOCOL_VERSION}.`,
      { remedy: 'Use a version of the agent that speaks it.' },
    );
  }
  const ways = listOf(answer.authMethods).map((method) => textOf(method.name) ?? textOf(method.id) ?? '');
  const listed = ways.filter((way) => way !== '').join(', ');
  link.signIn = `Sign in to ${name} in a terminal${listed === '' ? '' : ` (it offers: ${listed})`}, then go on with the run.`;
  const info = asObject(answer.agentInfo);
  return [textOf(info?.name) ?? name, textOf(info?.version) ?? ''].join(' ').trim();
}

/** @param warn tells what the agent cannot do, for people */
export async function openSession(
  name: string,
  link: AgentLink,
  settings: AcpSettings,
  request: AgentRequest,
  warn: (text: string) => void,
): Promise<OpenedSession> {
  const session = await link.request('session/new', { cwd: request.cwd, mcpServers: [] });
  const id = textOf(session.sessionId);
  if (id === undefined) throw new BackendError('protocol', `${name} opened a session without an id.`);
  const options = listOf(session.configOptions);
  const set = async (option: Json, value: string): Promise<void> => {
    await link.request('session/set_config_option', { sessionId: id, configId: option.id, value });
  };

  const mode = settings.modes?.[request.permission];
  if (mode !== undefined) await setMode(name, link, id, session, mode);

  const wanted = request.model ?? settings.model;
  const modelOption = options.find((option) =>
    settings.modelConfigId === undefined ? option.category === 'model' : option.id === settings.modelConfigId,
  );
  const models = asObject(session.models);
  let model = textOf(modelOption?.currentValue) ?? textOf(models?.currentModelId);
  if (settings.modelArgs !== undefined) {
    model = wanted ?? model;
  } else if (wanted !== undefined && wanted !== model) {
    if (modelOption) await set(modelOption, requireValue(name, 'model', wanted, valuesOf(modelOption)));
    else if (models) {
      const offered = listOf(models.availableModels).map((each) => ({
        value: textOf(each.modelId) ?? '',
        name: textOf(each.name),
      }));
      await link.request('session/set_model', { sessionId: id, modelId: requireValue(name, 'model', wanted, offered) });
    } else warn(`${name} does not let its model be chosen; it answers with its own.`);
    if (modelOption || models) model = wanted;
  }

  if (request.effort !== undefined) {
    const option = options.find((each) => each.category === 'thought_level');
    const value = option && valuesOf(option).find((each) => isMeant(each, request.effort as string))?.value;
    if (option && value !== undefined) await set(option, value);
    else warn(`${name} does not let its effort be set to ${request.effort}.`);
  }
  return { id, model };
}

async function setMode(name: string, link: AgentLink, sessionId: string, session: Json, mode: string): Promise<void> {
  const modes = asObject(session.modes);
  const offered = listOf(modes?.availableModes).map((each) => textOf(each.id) ?? '');
  if (!offered.includes(mode)) {
    const list = offered.length === 0 ? 'it offers none' : `it offers ${offered.slice(0, MAX_LISTED).join(', ')}`;
    throw new BackendError('config', `${name} has no session mode ${JSON.stringify(mode)}; ${list}.`, {
      remedy: 'Correct `modes` of this agent in the config.',
    });
  }
  if (modes?.currentModeId !== mode) await link.request('session/set_mode', { sessionId, modeId: mode });
}

interface Value {
  value: string;
  name: string | undefined;
}

/** The options of a select, flat or in groups. */
function valuesOf(option: Json): Value[] {
  return listOf(option.options)
    .flatMap((entry) => ('options' in entry ? listOf(entry.options) : [entry]))
    .map((entry) => ({ value: textOf(entry.value) ?? '', name: textOf(entry.name) }));
}

const isMeant = ({ value, name }: Value, wanted: string): boolean =>
  value === wanted || name?.toLowerCase() === wanted.toLowerCase();

function requireValue(name: string, what: string, wanted: string, offered: readonly Value[]): string {
  const found = offered.find((each) => each.value === wanted) ?? offered.find((each) => isMeant(each, wanted));
  if (found) return found.value;
  const list = offered.slice(0, MAX_LISTED).map(({ value }) => value);
  throw new BackendError(
    'invalid_request',
    `${name} has no ${what} ${JSON.stringify(wanted)}; it offers ${list.join(', ') || 'none'}.`,
    { remedy: 'Name one of these, or say in `models` of the config what the name means here.' },
  );
}

const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.flatMap((entry): Json[] => [asObject(entry) ?? {}]) : [];

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
