/**
 * Failures that adapters report beside the protocol. codex-acp ends a turn that failed as if it were answered, with the
 * fault as its text, unless its client can take failures apart from text; that is what is offered here. claude-agent-acp
 * knows the same extension. For agents that do not, the text of the answer is looked at, and taken for a fault only where
 * it is nothing but one of the sentences with which codex ends a failed turn.
 */
import { BackendError, type BackendErrorKind } from '../backend.js';
import { asObject } from './read-usage.js';

type Json = Readonly<Record<string, unknown>>;

/** For `clientCapabilities._meta`. */
export const FAILURE_EXTENSION = { jetbrains: { air: { version: 1, capabilities: ['sessionFailure'] } } };

export interface ReportedFailure {
  /** `limit`, `access`, `service`, `connection`, `request`, … */
  category: string;
  title: string;
  /** The agent gives up; otherwise it goes on trying. */
  final: boolean;
}

/** @param carrier an update or an answer */
export function readReportedFailure(carrier: Json): ReportedFailure | undefined {
  const failure = asObject(asObject(asObject(asObject(carrier._meta)?.jetbrains)?.air)?.sessionFailure);
  if (typeof failure?.category !== 'string' || typeof failure.title !== 'string') return undefined;
  return { category: failure.category, title: failure.title, final: failure.severity === 'error' };
}

const BY_CATEGORY: Record<string, BackendErrorKind> = {
  access: 'auth',
  connection: 'network',
  request: 'invalid_request',
  service: 'server',
};

export function kindOfReported({ category, title }: ReportedFailure): BackendErrorKind {
  const byText = kindOfText(title);
  // "limit" is told for too many requests, a quota and a context that is full alike.
  if (category === 'limit') return byText ?? 'failed';
  return byText ?? BY_CATEGORY[category] ?? 'failed';
}

/** Sentences of codex, as measured; the number is the status of the last answer of its API. */
const SENTENCES: readonly [RegExp, BackendErrorKind | 'by status'][] = [
  [/^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b/i, 'by status'],
  [/^you've hit your usage limit\b/i, 'usage_limit'],
  [/^quota exceeded\b/i, 'billing'],
  [/^stream disconnected before completion\b/i, 'network'],
  [/^(?:codex |your input )?.{0,20}ran out of room in the model's context window\b/i, 'invalid_request'],
  [/\b(?:too many requests|rate limit(?:ed)?)\b/i, 'rate_limit'],
];
/** The last sentence is too common in ordinary answers. */
const ANSWER_SENTENCES = SENTENCES.slice(0, -1);

function kindOfText(text: string, sentences = SENTENCES): BackendErrorKind | undefined {
  for (const [pattern, kind] of sentences) {
    const found = pattern.exec(text);
    if (found) return kind === 'by status' ? kindOfStatus(Number(found[1])) : kind;
  }
  return undefined;
}

/** Longer texts are answers. */
const LONGEST_FAULT = 1_000;

/** The fault that stands in the place of an answer. */
export function findFaultInAnswer(text: string): BackendError | undefined {
  const said = text.trim();
  if (said.length > LONGEST_FAULT || said.includes('\n\n')) return undefined;
  const kind = kindOfText(said, ANSWER_SENTENCES);
  return kind && new BackendError(kind, `The agent ended its turn with a fault in place of an answer: ${said}`);
}

/** What an HTTP status means that a model's API gave the agent. */
export function kindOfStatus(status: number): BackendErrorKind | undefined {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 408 || status === 504) return 'network';
  if (status === 429) return 'rate_limit';
  if (status === 503 || status === 529) return 'overloaded';
  if (status >= 500 && status < 600) return 'server';
  return status >= 400 && status < 500 ? 'invalid_request' : undefined;
}
