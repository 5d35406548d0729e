/**
 * Blanks the types of a TypeScript script out, so that every line and column stays. Loaded only when it is needed:
 * the WebAssembly module behind it takes 50 ms to start.
 */
import { parse } from 'acorn';
import { WfError } from '../shared/errors.js';
import { explainEnd, remedyFor } from './explain-syntax.js';
import { moduleFormAt } from './module-form.js';
import { findSurplus } from './open-brackets.js';
import { PARSE_OPTIONS } from './parse-script.js';
import { placeAt, type ScriptText } from './script-text.js';
import { blankTypes, type StripFault } from './type-stripper.js';

/**
 * JavaScript of the same length, with the same lines, as the TypeScript of `script.text`. Imports of values and exports
 * are still in it, for the checks that follow.
 *
 * @throws WfError `WF_SCRIPT_SYNTAX`; `WF_SCRIPT_MODULE` for a form that could not be kept
 */
export function stripTypes(script: ScriptText): string {
  const result = stripText(script.text);
  if (typeof result === 'string') return result;
  throw toWfError(script, result);
}

/** A better error for JavaScript that cannot be parsed, if it turns out to be TypeScript; else the same error. */
export function explainTypes(script: ScriptText, error: WfError): WfError {
  if (!isTypeScript(script.text)) return error;
  return new WfError('WF_SCRIPT_SYNTAX', 'The script holds TypeScript, but a .js workflow must be plain JavaScript.', {
    remedy: 'Let the name of the file end in .ts, or remove the types.',
    ...(error.place ? { place: error.place } : {}),
    cause: error,
  });
}

function isTypeScript(text: string): boolean {
  const result = stripText(text);
  if (typeof result !== 'string')
    return result.kind === 'unsupported' && NOT_TYPES.some(({ form }) => form.test(result.message));
  if (result === text) return false;
  try {
    parse(result, PARSE_OPTIONS);
    return true;
  } catch {
    return false;
  }
}

/** The stripper sees a function body, which may `return` but not import or export: these are taken out and put back. */
function stripText(text: string): string | StripFault {
  const kept: { at: number; text: string }[] = [];
  let body = text;
  for (let left = 200; left > 0; left--) {
    const result = blankTypes(body);
    if (typeof result === 'string') return kept.reduce((whole, { at, text }) => put(whole, at, text), result);
    const form = result.kind === 'module' ? moduleFormAt(body, result.at) : undefined;
    if (!form) return result;
    if (form.keep) kept.push({ at: result.at, text: form.keep });
    body = put(body, result.at, blank(body.slice(result.at, form.end)));
    // What stood there ended the statement before it.
    if (form.isStatement) body = put(body, result.at, ';');
  }
  return { kind: 'module', at: 0, message: 'The script has too many imports and exports' };
}

const put = (text: string, at: number, piece: string): string =>
  text.slice(0, at) + piece + text.slice(at + piece.length);

const blank = (text: string): string => text.replace(/[^\n\r\u2028\u2029]/g, ' ');

function toWfError(script: ScriptText, fault: StripFault): WfError {
  const { kind, at, message } = fault;
  if (kind === 'module') {
    return new WfError('WF_SCRIPT_MODULE', 'This import or export is not available: a workflow is one file.', {
      remedy: '`import type` and `/// <reference … />` are fine; the only export is `export const meta = {…}`.',
      place: placeAt(script, at),
    });
  }
  if (kind === 'crashed') {
    return new WfError('WF_SCRIPT_SYNTAX', `The types of the script cannot be removed: ${message}.`, {
      remedy: 'Most often the code is nested too deeply: break it up, or write the workflow in JavaScript.',
      place: { file: script.filename },
    });
  }
  if (kind === 'unsupported') {
    const { what, remedy } = NOT_TYPES.find(({ form }) => form.test(message)) ?? { what: 'This', remedy: '' };
    return new WfError('WF_SCRIPT_SYNTAX', `${what} is more than a type, and types are only blanked out.`, {
      remedy: remedy || message,
      place: placeAt(script, at),
    });
  }
  const { text } = script;
  // To the stripper a brace too many closes its wrapper, and the fault is what comes after that.
  const surplus = findSurplus(text);
  if (surplus !== undefined && surplus.at < at)
    return unparsed(script, `unexpected token '${surplus.sign}'`, surplus.at);
  const end = at >= text.trimEnd().length ? explainEnd(text) : undefined;
  return unparsed(script, end?.message ?? message, end?.at ?? at, end?.remedy);
}

const unparsed = (script: ScriptText, what: string, at: number, remedy = remedyFor(script.text, at)): WfError =>
  new WfError('WF_SCRIPT_SYNTAX', `The script cannot be parsed: ${what}.`, { remedy, place: placeAt(script, at) });

const NOT_TYPES = [
  {
    form: /enum/,
    what: 'An `enum`',
    remedy: "Use a union of texts (`type Size = 'small' | 'large'`) or a plain object.",
  },
  { form: /namespace|module/, what: 'A `namespace`', remedy: 'Use a plain object.' },
  {
    form: /parameter property/,
    what: 'A parameter property',
    remedy: 'Declare the field in the class and set it in the constructor.',
  },
  { form: /angle-bracket/, what: 'A type assertion in angle brackets', remedy: 'Write `value as Type`.' },
];
