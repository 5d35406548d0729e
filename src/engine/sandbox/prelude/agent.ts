import { AGENT_OPTIONS } from '../../../shared/agent-options.js';
import { type Answer, waitFor } from './calls.js';
import { type Cause, describe, engineCause, makeError, misuse } from './errors.js';
import { config, hostCall } from './host.js';
import { freeze, G, isArray, keys, lock, SafeMap, stringify, textSlice } from './primordials.js';
import { currentPhase } from './phase.js';
import { currentPath } from './place.js';
import { plain } from './plain.js';

const KNOWN = new SafeMap<string, true>();
for (let i = 0; i < AGENT_OPTIONS.length; i++) KNOWN.set(AGENT_OPTIONS[i] as string, true);
// Known so that it is refused and not ignored.
KNOWN.set('effect', true);
const warned = new SafeMap<string, true>();

/** Queues one call. Throws (as a rejection) for a prompt or options that are no such thing. */
function queueCall(prompt: unknown, opts: unknown): Promise<Answer> {
  if (typeof prompt !== 'string')
    throw misuse('WF_AGENT_OPTIONS', `agent(prompt): the prompt must be a string; got ${describe(prompt)}.`);
  if (prompt === '') throw misuse('WF_AGENT_OPTIONS', 'agent(prompt): the prompt is empty.');
  let label: string | undefined;
  let phase = currentPhase();
  let optionsText = '';
  if (opts !== undefined && opts !== null) {
    if (typeof opts !== 'object' || isArray(opts))
      throw misuse('WF_AGENT_OPTIONS', `agent(prompt, options): the options must be an object; got ${describe(opts)}.`);
    const options = opts as Record<string, unknown>;
    label = textOption(options, 'label');
    const given = textOption(options, 'phase');
    if (given !== undefined && config.fixedPhase === null) phase = given;
    optionsText = readOptions(options);
  }
  if (label === undefined || isBlank(label)) label = labelOf(prompt);
  const path = currentPath();
  // Each argument that crosses the border costs; most calls have none of the last three.
  return waitFor((id) =>
    optionsText === '' && path === '' && phase === undefined
      ? hostCall(id, 'agent', prompt, label)
      : hostCall(id, 'agent', prompt, label, phase ?? '', optionsText, path),
  );
}

const LABEL = 60;

/** The beginning of the prompt on one line. By hand: a regular expression would run methods that a script can patch. */
function labelOf(prompt: string): string {
  const start = textSlice(prompt, 0, LABEL);
  const label = isOneLine(start) ? start : joinLines(prompt);
  const last = label[label.length - 1] as string;
  // No space at the end, and no half of a character.
  return last === ' ' || (last >= '\ud800' && last <= '\udbff') ? textSlice(label, 0, label.length - 1) : label;
}

/** Of one code unit. */
const isSpace = (unit: string): boolean =>
  unit <= ' ' || (unit >= '\xa0' && (unit === '\xa0' || unit === '\u2028' || unit === '\u2029' || unit === '\ufeff'));

function isBlank(label: string): boolean {
  for (let i = 0; i < label.length; i++) if (!isSpace(label[i] as string)) return false;
  return true;
}

/** Most prompts begin as their label does. */
function isOneLine(start: string): boolean {
  let before = ' ';
  for (let i = 0; i < start.length; i++) {
    const unit = start[i] as string;
    if (unit === ' ' ? before === ' ' : isSpace(unit)) return false;
    before = unit;
  }
  return true;
}

function joinLines(prompt: string): string {
  let label = '';
  for (let i = 0; i < prompt.length && i < 400 && label.length < LABEL; i++) {
    const unit = prompt[i] as string;
    if (!isSpace(unit)) label += unit;
    else if (label !== '' && label[label.length - 1] !== ' ') label += ' ';
  }
  return label;
}

function textOption(options: Record<string, unknown>, name: string): string | undefined {
  const value = options[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  // The number of an issue or a round; both options are only shown.
  if (typeof value === 'number' && value - value === 0) return `${value}`;
  throw misuse('WF_AGENT_OPTIONS', `agent(): option ${name} must be a string; got ${describe(value)}.`);
}

/** JSON text of the options other than label and phase; empty when there are none. */
function readOptions(options: Record<string, unknown>): string {
  const names = keys(options);
  let found: Record<string, unknown> | undefined;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (name === 'label' || name === 'phase') continue;
    if (!KNOWN.has(name)) {
      if (!warned.has(name)) {
        warned.set(name, true);
        hostCall(0, 'unknown-option', name);
      }
      continue;
    }
    const value = plain(options[name], `agent(): option ${name}`, 'WF_AGENT_OPTIONS');
    if (value === undefined) continue;
    found ??= { __proto__: null } as unknown as Record<string, unknown>;
    found[name] = value;
  }
  return found === undefined ? '' : stringify(found);
}

const agent = async (prompt: unknown, opts?: unknown): Promise<unknown> => {
  const answer = await queueCall(prompt, opts);
  if (answer.cause === undefined) return answer.value;
  if (answer.cause.tell === 'null') return null;
  answer.cause.ofCall = true;
  throw makeError(answer.cause);
};

/** The same call; tells why there is no answer instead of giving `null` or throwing. */
const settled = async (prompt: unknown, opts?: unknown): Promise<unknown> => {
  let cause: Cause | undefined;
  try {
    const answer = await queueCall(prompt, opts);
    if (answer.cause === undefined) {
      const value = answer.value;
      return answer.lastTry ? { ok: true, value, lastTry: true } : { ok: true, value };
    }
    cause = answer.cause;
  } catch (error) {
    cause = engineCause(error);
    // An error of the script's own, thrown by a getter of its options.
    if (cause === undefined) throw error;
  }
  return { ok: false, cause: { name: cause.name, code: cause.code, message: cause.message } };
};

lock(agent, 'name', 'agent');
lock(agent, 'settled', settled, true);
freeze(agent);
lock(G, 'agent', agent, true);
