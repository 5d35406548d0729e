import { type Options, type Program, parse, type Token } from 'acorn';
import { WfError } from '../shared/errors.js';
import { explainSyntaxError } from './explain-syntax.js';
import { placeAt, type ScriptText } from './script-text.js';

/** A workflow is read as a module whose body may `return` and `await`; that is how its wrapper makes it run. */
export const PARSE_OPTIONS = {
  ecmaVersion: 'latest',
  sourceType: 'module',
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
} as const satisfies Options;

/**
 * Parses `text` (the script's own, or what is left of it without types). Nothing is executed.
 *
 * @throws WfError `WF_SCRIPT_SYNTAX`
 */
export function parseScript(script: ScriptText, text = script.text): Program {
  refuseFence(script, text);
  let program: Program;
  try {
    program = parse(text, PARSE_OPTIONS);
  } catch (error) {
    throw syntaxError(script, text, error);
  }
  refuseHtmlComments(script, text);
  return program;
}

/** Agents that write scripts like to hand them over as Markdown. */
function refuseFence(script: ScriptText, text: string): void {
  const fence = /^\s*(?=```)/.exec(text);
  if (fence === null) return;
  throw new WfError('WF_SCRIPT_SYNTAX', 'The script stands in a fence of Markdown.', {
    remedy: 'Remove the lines that begin with ```.',
    place: placeAt(script, fence[0].length),
  });
}

/** Runs a walk over the tree of a script; a tree too deep for it is the script's fault. */
export function withinDepth<T>(script: ScriptText, walk: () => T): T {
  try {
    return walk();
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(script);
    throw error;
  }
}

function syntaxError(script: ScriptText, text: string, error: unknown): WfError {
  if (error instanceof RangeError) return tooDeep(script);
  const { message, pos } = error as SyntaxError & { pos?: number };
  if (pos === undefined) throw error;
  if (/stack space/.test(message)) return tooDeep(script, pos);
  const explained = withinDepth(script, () => explainSyntaxError(text, message.replace(/ \(\d+:\d+\)$/, ''), pos));
  return new WfError('WF_SCRIPT_SYNTAX', `The script cannot be parsed: ${explained.message}.`, {
    remedy: explained.remedy,
    place: placeAt(script, explained.at),
  });
}

const tooDeep = (script: ScriptText, at?: number): WfError =>
  new WfError('WF_SCRIPT_SYNTAX', 'The script is nested too deeply to be read.', {
    remedy: 'Break the expression up, or build the data in a loop.',
    place: at === undefined ? { file: script.filename } : placeAt(script, at),
  });

/**
 * `a<!--b` is an expression in a module but the start of a comment in the wrapper, so the two would disagree about where
 * the body ends.
 */
function refuseHtmlComments(script: ScriptText, text: string): void {
  if (!text.includes('<!--')) return;
  const tokens: Token[] = [];
  parse(text, { ...PARSE_OPTIONS, onToken: tokens });
  for (const [index, token] of tokens.entries()) {
    if (!text.startsWith('<!--', token.start) || tokens[index + 1]?.start !== token.start + 1) continue;
    throw new WfError('WF_SCRIPT_SYNTAX', 'The script cannot be parsed: `<!--` starts an HTML-like comment.', {
      remedy: 'Write a space after `<`, or remove the comment.',
      place: placeAt(script, token.start),
    });
  }
}
