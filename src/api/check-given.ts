/**
 * What a program gave, as far as its types may not have told it: JavaScript, values read from a file, an object that only looks
 * like a backend. Here it is a refusal before anything starts; later it would be a limit of 1 ms or an error in every call.
 */
import { EFFORTS, PERMISSIONS } from '../shared/agent-options.js';
import { WfError } from '../shared/errors.js';
import type { RunWorkflowOptions } from './run-options.js';

/** Those that have a range of whole numbers are checked where settings are put together. */
const NUMBERS = ['timeoutMs', 'idleTimeoutMs', 'budgetTokens', 'budgetUsd', 'minFreeMemMb', 'drainMs', 'keep'] as const;

const CHOICES = { permission: PERMISSIONS, effort: EFFORTS, match: ['content', 'prefix'] } as const;

/** @throws WfError `WF_USAGE` */
export function checkGiven(given: RunWorkflowOptions): void {
  for (const name of NUMBERS) {
    const value: unknown = given[name];
    if (value === undefined || value === null) continue;
    // An endless time is one that programs write.
    if (typeof value === 'number' && value >= 0) continue;
    throw new WfError('WF_USAGE', `${name} must be a number from 0 on; got ${show(value)}.`);
  }
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value: unknown = given[name as keyof typeof CHOICES];
    if (value === undefined || (choices as readonly unknown[]).includes(value)) continue;
    throw new WfError('WF_USAGE', `${name} must be one of ${choices.join(', ')}; got ${show(value)}.`);
  }
  checkBackend(given.backend);
}

function checkBackend(backend: RunWorkflowOptions['backend']): void {
  if (backend === undefined || typeof backend === 'string') return;
  const parts = (backend ?? {}) as unknown as Record<string, unknown>;
  const missing = [
    ...(typeof parts.name === 'string' && parts.name !== '' ? [] : ['name']),
    ...['run', 'probe'].filter((part) => typeof parts[part] !== 'function'),
    ...(typeof parts.capabilities === 'object' && parts.capabilities !== null ? [] : ['capabilities']),
  ];
  if (missing.length === 0) return;
  throw new WfError('WF_USAGE', `The backend that was given has no ${missing.join(', no ')}.`, {
    remedy: 'Make it with defineBackend({ name, run }), or give the name of one.',
  });
}

const show = (value: unknown): string => (typeof value === 'string' ? JSON.stringify(value) : String(value));
