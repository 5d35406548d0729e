/** What a backend cannot hold an agent to is said once, and the call runs. */
import type { AgentDefinition } from '../agents/agent-definitions.js';
import type { AgentBackend } from '../agents/backend.js';
import type { LiveCall } from './engine-options.js';
import type { UntimedEvent } from './run-voice.js';

export function createUnenforcedVoice(
  definitions: ReadonlyMap<string, AgentDefinition>,
  tell: (event: UntimedEvent) => void,
): { warnOnce(message: string): void; tellUnenforced(backend: AgentBackend, call: LiveCall): void } {
  const told = new Set<string>();
  const warnOnce = (message: string): void => {
    if (told.has(message)) return;
    told.add(message);
    tell({ type: 'warning', code: 'WF_NOT_ENFORCED', message });
  };
  const tellUnenforced = ({ name, capabilities }: AgentBackend, call: LiveCall): void => {
    if (capabilities.madeUp) return;
    const type = call.options?.agentType;
    const agent = type === undefined ? undefined : definitions.get(type);
    if (type !== undefined && agent === undefined && !capabilities.agentTypes?.has(type)) {
      warnOnce(`The backend ${name} has no agent of type ${JSON.stringify(type)}; its default agent answers.`);
    }
    const limits = call.options?.tools ?? call.options?.disallowedTools ?? agent?.tools ?? agent?.disallowedTools;
    if (limits !== undefined && !capabilities.tools)
      warnOnce(`The backend ${name} cannot limit the tools of an agent.`);
  };
  return { warnOnce, tellUnenforced };
}
