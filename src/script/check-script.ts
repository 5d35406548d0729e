import { WfError } from '../shared/errors.js';
import type { ScriptFault } from './checked-script.js';
import { checkAwaits } from './checks/check-awaits.js';
import { checkFanOuts } from './checks/check-fan-outs.js';
import { checkGlobals } from './checks/check-globals.js';
import { checkLastStart } from './checks/check-last-start.js';
import { checkOptions } from './checks/check-options.js';
import { checkPhases } from './checks/check-phases.js';
import { checkPromises } from './checks/check-promises.js';
import { checkSchemas, findSchemas } from './checks/check-schemas.js';
import type { CheckContext } from './checks/context.js';
import { type Finding, toFaults } from './finding.js';
import { inspectText, type LoadOptions, languageOf, loadScript } from './load-script.js';
import { withinDepth } from './parse-script.js';
import { openScriptText } from './script-text.js';

export interface CheckOptions extends LoadOptions {
  /** Agent types that calls may name, built-in ones included; without it they are not checked. */
  agentTypes?: readonly string[];
  /** Names of saved workflows that `workflow()` would find; without it they are not checked. */
  workflows?: readonly string[];
}

/**
 * Everything for which a run of the script would be refused, and what is likely a mistake, sorted by place. Nothing of it
 * is executed. A script that cannot be parsed has that one fault.
 *
 * @example
 * const faults = await checkScript(text, { filename: 'review.js' });
 * faults.some((fault) => fault.severity === 'error'); // wf check ends with exit code 2
 */
export async function checkScript(source: string, options: CheckOptions): Promise<ScriptFault[]> {
  try {
    return await findFaults(source, options);
  } catch (error) {
    if (!WfError.is(error)) throw error;
    return [error, ...error.others].map((one) => toFault(one, options.filename));
  }
}

async function findFaults(source: string, options: CheckOptions): Promise<ScriptFault[]> {
  const script = openScriptText(source, options.filename);
  let text = script.text;
  if ((options.language ?? languageOf(options.filename)) === 'ts') {
    const { stripTypes } = await import('./strip-types.js');
    text = stripTypes(script);
  }
  let inspection: ReturnType<typeof inspectText>;
  try {
    inspection = inspectText(script, text);
  } catch (error) {
    // It words the fault as a run would.
    await loadScript(source, options);
    throw error;
  }
  const { program, names, reading, refusals, warnings } = inspection;
  const findings: Finding[] = [...refusals, ...warnings];
  const context: CheckContext = {
    program,
    names,
    meta: reading.meta,
    agentTypes: options.agentTypes,
    workflows: options.workflows,
    report: (node, finding) => void findings.push({ ...finding, at: node.start }),
  };
  const schemas = withinDepth(script, () => {
    for (const check of [
      checkAwaits,
      checkLastStart,
      checkPromises,
      checkFanOuts,
      checkOptions,
      checkPhases,
      checkGlobals,
    ])
      check(context);
    return findSchemas(context);
  });
  await checkSchemas(context, schemas);
  return toFaults(script, findings);
}

function toFault({ code, message, remedy, place }: WfError, filename: string): ScriptFault {
  const { file = filename, line = 1, column = 1, frame } = place ?? {};
  return {
    file,
    line,
    column,
    code,
    message,
    severity: 'error',
    ...(frame === undefined ? {} : { frame }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}
