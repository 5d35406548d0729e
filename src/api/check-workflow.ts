import { relative } from 'node:path';
import { BUILT_IN_AGENT_TYPES, loadAgentDefinitions } from '../agents/agent-definitions.js';
import type { ScriptFault } from '../script/checked-script.js';
import { checkScript } from '../script/check-script.js';
import { findWorkflow } from '../script/find-workflow.js';
import { listWorkflows } from '../script/saved-workflows.js';
import { findPlaces } from './prepare-run.js';
import type { RunWorkflowOptions } from './run-options.js';

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
  const found = findWorkflow(script, places);
  const way = relative(places.cwd, found.path);
  return checkScript(found.source, {
    filename: way.startsWith('..') ? found.path : way,
    language: found.language,
    agentTypes: [...BUILT_IN_AGENT_TYPES, ...(await loadAgentDefinitions(places)).keys()],
    workflows: listWorkflows(places).workflows.map(({ name }) => name),
  });
}
