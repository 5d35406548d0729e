/** The journal's lines as bytes, each sealed with its checksum and closed with a newline. */
import { type HitEntry, JOURNAL_VERSION, type ResultEntry, type ScriptEntry, type TimerEntry } from './entry.js';
import { resultHeader, sealLine } from './line.js';

type ResultFields = Omit<ResultEntry, 'v' | 'type' | 'size' | 'output'>;

/**
 * @param outputJson JSON text of the answer (`ok` lines only)
 * @param promptJson JSON text of the prompt, where the caller has it already
 */
export function encodeResult(entry: ResultFields, outputJson: string | undefined, promptJson?: string): Buffer {
  let text = resultHeader(entry);
  if (entry.madeUp) text += ',"madeUp":true';
  if (entry.usage !== undefined) text += `,"usage":${JSON.stringify(entry.usage)}`;
  if (entry.worktrees !== undefined) text += `,"worktrees":${JSON.stringify(entry.worktrees)}`;
  if (entry.lastTry) text += ',"lastTry":true';
  if (outputJson !== undefined) text += `,"size":${Buffer.byteLength(outputJson)},"output":${outputJson}`;
  if (entry.error !== undefined) text += `,"error":${JSON.stringify(entry.error)}`;
  if (entry.backend !== undefined) text += `,"backend":${JSON.stringify(entry.backend)}`;
  if (entry.model !== undefined) text += `,"model":${JSON.stringify(entry.model)}`;
  if (entry.sessionId !== undefined) text += `,"sessionId":${JSON.stringify(entry.sessionId)}`;
  if (entry.attempts !== undefined) text += `,"attempts":${entry.attempts}`;
  if (entry.startedAt !== undefined) text += `,"startedAt":${JSON.stringify(entry.startedAt)}`;
  if (entry.endedAt !== undefined) text += `,"endedAt":${JSON.stringify(entry.endedAt)}`;
  const prompt = promptJson ?? (entry.prompt === undefined ? undefined : JSON.stringify(entry.prompt));
  if (prompt !== undefined) text += `,"prompt":${prompt}`;
  if (entry.opts !== undefined) text += `,"opts":${JSON.stringify(entry.opts)}`;
  return sealLine(text);
}

export function encodeHit(entry: Omit<HitEntry, 'v' | 'type'>): Buffer {
  return sealLine(
    `{"v":${JOURNAL_VERSION},"type":"hit","seq":${entry.seq},"n":${entry.n},"key":"${entry.key}"` +
      `,"path":${JSON.stringify(entry.path)},"nth":${entry.nth}` +
      (entry.label === undefined ? '' : `,"label":${JSON.stringify(entry.label)}`) +
      (entry.phase == null ? '' : `,"phase":${JSON.stringify(entry.phase)}`) +
      `,"of":${entry.of}`,
  );
}

export function encodeTimer(entry: Omit<TimerEntry, 'v' | 'type'>): Buffer {
  const { path, ...rest } = entry;
  return sealLine(open({ v: JOURNAL_VERSION, type: 'timer', ...rest, ...(path ? { path } : {}) }));
}

export function encodeScript(entry: Omit<ScriptEntry, 'v' | 'type'>): Buffer {
  return sealLine(open({ v: JOURNAL_VERSION, type: 'script', ...entry }));
}

const open = (fields: object): string => JSON.stringify(fields).slice(0, -1);
