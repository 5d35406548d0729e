/** The journal's lines, each as the text of an open JSON object: a `LineBatch` adds its checksum and closes it. */
import { type HitEntry, JOURNAL_VERSION, type ResultEntry, type ScriptEntry, type TimerEntry } from './entry.js';
import { resultHeader } from './line.js';

type ResultFields = Omit<ResultEntry, 'v' | 'type' | 'size' | 'output'>;

/**
 * @param outputJson JSON text of the answer (`ok` lines only)
 * @param promptJson JSON text of the prompt, where the caller has it already
 * @returns long texts stand in pieces of their own, so that nobody has to join them first
 */
export function resultText(entry: ResultFields, outputJson: string | undefined, promptJson?: string): string[] {
  const pieces: string[] = [];
  let text = resultHeader(entry);
  if (entry.madeUp) text += ',"madeUp":true';
  if (entry.usage !== undefined) text += `,"usage":${JSON.stringify(entry.usage)}`;
  if (entry.worktrees !== undefined) text += `,"worktrees":${JSON.stringify(entry.worktrees)}`;
  if (entry.lastTry) text += ',"lastTry":true';
  if (outputJson !== undefined) {
    pieces.push(`${text},"size":${Buffer.byteLength(outputJson)},"output":`, outputJson);
    text = '';
  }
  if (entry.error !== undefined) text += `,"error":${JSON.stringify(entry.error)}`;
  if (entry.backend !== undefined) text += `,"backend":${JSON.stringify(entry.backend)}`;
  if (entry.model !== undefined) text += `,"model":${JSON.stringify(entry.model)}`;
  if (entry.sessionId !== undefined) text += `,"sessionId":${JSON.stringify(entry.sessionId)}`;
  if (entry.attempts !== undefined) text += `,"attempts":${entry.attempts}`;
  if (entry.startedAt !== undefined) text += `,"startedAt":${JSON.stringify(entry.startedAt)}`;
  if (entry.endedAt !== undefined) text += `,"endedAt":${JSON.stringify(entry.endedAt)}`;
  const prompt = promptJson ?? (entry.prompt === undefined ? undefined : JSON.stringify(entry.prompt));
  if (prompt !== undefined) {
    pieces.push(`${text},"prompt":`, prompt);
    text = '';
  }
  if (entry.opts !== undefined) text += `,"opts":${JSON.stringify(entry.opts)}`;
  if (text !== '') pieces.push(text);
  return pieces;
}

export const hitText = (entry: Omit<HitEntry, 'v' | 'type'>): string =>
  `{"v":${JOURNAL_VERSION},"type":"hit","seq":${entry.seq},"n":${entry.n},"key":"${entry.key}"` +
  `,"path":${JSON.stringify(entry.path)},"nth":${entry.nth}` +
  (entry.label === undefined ? '' : `,"label":${JSON.stringify(entry.label)}`) +
  (entry.phase == null ? '' : `,"phase":${JSON.stringify(entry.phase)}`) +
  `,"of":${entry.of}`;

export function timerText(entry: Omit<TimerEntry, 'v' | 'type'>): string {
  const { path, ...rest } = entry;
  return open({ v: JOURNAL_VERSION, type: 'timer', ...rest, ...(path ? { path } : {}) });
}

export const scriptText = (entry: Omit<ScriptEntry, 'v' | 'type'>): string =>
  open({ v: JOURNAL_VERSION, type: 'script', ...entry });

const open = (fields: object): string => JSON.stringify(fields).slice(0, -1);
