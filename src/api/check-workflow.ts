import { BUILT_IN_AGENT_TYPES, loadAgentDefinitions } from '../agents/agent-definitions.js';
import type { ScriptFault } from '../script/checked-script.js';
import { checkScript } from '../script/check-script.js';
import { type FoundWorkflow, findWorkflow } from '../script/find-workflow.js';
import { listWorkflows } from '../script/saved-workflows.js';
import { WfError } from '../shared/errors.js';
import { findPlaces } from './prepare-run.js';
import type { RunWorkflowOptions } from './run-options.js';
import { wayInside } from '../shared/way-inside.js';

/**
 * What a run of the script would refuse, and likely mistakes; nothing is executed.
 *
 * @param script path, or name of a saved workflow
 * @throws WfError `WF_SCRIPT_NOT_FOUND`
 */
export async function checkWorkflowFile(
  script: string,
  where: Pick<RunWorkflowOptions, 'cwd' | 'home' | 'env'> = {},
): Promise<ScriptFault[]> {
  const places = findPlaces(where);
  let found: FoundWorkflow;
  try {
    found = findWorkflow(script, places);
  } catch (error) {
    const fault = WfError.is(error) ? faultOfFile(error, script) : undefined;
    if (fault === undefined) throw error;
    return [fault];
  }
  return checkScript(found.source, {
    filename: wayInside(places.cwd, found.path) ?? found.path,
    language: found.language,
    agentTypes: [...BUILT_IN_AGENT_TYPES, ...(await loadAgentDefinitions(places)).keys()],
    workflows: listWorkflows(places).workflows.map(({ name }) => name),
  });
}

/** A file that is there but cannot be read as a script is one more fault among those of other files. */
function faultOfFile({ code, message, place, remedy }: WfError, script: string): ScriptFault | undefined {
  if (code !== 'WF_SCRIPT_SIZE' && code !== 'WF_SCRIPT_SYNTAX') return undefined;
  const { line = 1, column = 1, frame } = place ?? {};
  const fault: ScriptFault = { file: script, line, column, code, message, severity: 'error' };
  if (frame !== undefined) fault.frame = frame;
  if (remedy !== undefined) fault.remedy = remedy;
  return fault;
}
