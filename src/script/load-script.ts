import { createHash } from 'node:crypto';
import type * as ast from 'acorn';
import { WfError } from '../shared/errors.js';
import type { CheckedScript } from './checked-script.js';
import { compileError } from './explain-syntax.js';
import { type Finding, type Refusal, refuse, toFaults } from './finding.js';
import { findRefusedForms } from './find-refused-forms.js';
import { findLazyGlobals } from './lazy-globals.js';
import { parseScript, withinDepth } from './parse-script.js';
import { type MetaReading, readMeta } from './read-meta.js';
import { type ResolvedNames, resolveNames } from './resolve-names.js';
import { offsetOf, openScriptText, placeAt, type ScriptText } from './script-text.js';
import { wrapScript } from './wrap-script.js';

export type ScriptLanguage = 'js' | 'ts';

export interface LoadOptions {
  /** Name in messages and stack traces. */
  filename: string;
  /** Default: by the ending of `filename`. */
  language?: ScriptLanguage;
}

/** `.ts`, `.mts` and `.cts` are TypeScript, everything else is JavaScript. */
export const languageOf = (filename: string): ScriptLanguage => (/\.[mc]?ts$/i.test(filename) ? 'ts' : 'js');

/**
 * Checks a script and makes it ready to be compiled in an isolate. Nothing of it is executed.
 *
 * @throws WfError `WF_SCRIPT_SIZE`, `WF_SCRIPT_SYNTAX`, `WF_SCRIPT_META`, `WF_SCRIPT_MODULE` or `WF_SCRIPT_DETERMINISM`,
 * with the place of the first fault; faults other than of syntax come together, the further ones in `others`
 *
 * @example
 * const script = await loadScript(text, { filename: 'review.ts' });
 * script.meta.name; // 'review'
 */
export async function loadScript(source: string, options: LoadOptions): Promise<CheckedScript> {
  const language = options.language ?? languageOf(options.filename);
  const script = openScriptText(source, options.filename);
  if (language === 'ts') {
    const { stripTypes } = await import('./strip-types.js');
    return checkText(script, stripTypes(script));
  }
  try {
    return checkText(script, script.text);
  } catch (error) {
    if (!WfError.is(error) || error.code !== 'WF_SCRIPT_SYNTAX') throw error;
    const { explainTypes } = await import('./strip-types.js');
    throw explainTypes(script, error);
  }
}

/** `loadScript` for JavaScript, at once. A type annotation is reported as a plain syntax fault. */
export function loadJavaScript(source: string, options: Pick<LoadOptions, 'filename'>): CheckedScript {
  const script = openScriptText(source, options.filename);
  return checkText(script, script.text);
}

/** What is known of a script once it is parsed; a run is refused if there are `refusals`. */
export interface ScriptInspection {
  program: ast.Program;
  names: ResolvedNames;
  reading: MetaReading;
  refusals: Refusal[];
  warnings: Finding[];
}

/**
 * @param text JavaScript of the same length and lines as `script.text`
 * @throws WfError `WF_SCRIPT_SYNTAX`
 */
export function inspectText(script: ScriptText, text: string): ScriptInspection {
  const program = parseScript(script, text);
  return withinDepth(script, () => {
    const names = resolveNames(program);
    const reading = readMeta(program);
    const refusals = [...reading.refusals, ...findRefusedForms(program, names)];
    if (refusals.length === 0) refuseUncompilable(script, text, reading.exportAt);
    return { program, names, reading, refusals, warnings: reading.warnings };
  });
}

function checkText(script: ScriptText, text: string): CheckedScript {
  const { program, names, reading, refusals, warnings } = inspectText(script, text);
  if (refusals.length > 0 || !reading.meta) throw refuse(script, refusals);
  return {
    meta: reading.meta,
    source: script.source,
    sha256: createHash('sha256').update(script.source).digest('hex'),
    filename: script.filename,
    ...wrapScript(text, reading.exportAt),
    names: withinDepth(script, () => findLazyGlobals(program, names)),
    warnings: toFaults(script, warnings),
  };
}

/** The parser knows the newest syntax, the engine that runs the script perhaps not all of it. */
function refuseUncompilable(script: ScriptText, text: string, exportAt: number): void {
  const body = text.slice(0, exportAt) + ' '.repeat('export'.length) + text.slice(exportAt + 'export'.length);
  const error = compileError(body);
  if (!error) return;
  const at = Number.isNaN(error.line) ? 0 : offsetOf(script, error.line, error.column);
  throw new WfError('WF_SCRIPT_SYNTAX', `This version of Node cannot compile the script: ${error.message}.`, {
    remedy: `Write it without that syntax, or use a newer Node (this is ${process.version}).`,
    place: placeAt(script, at),
  });
}
