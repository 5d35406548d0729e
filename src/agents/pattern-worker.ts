/**
 * The thread that checks answers against schemas with patterns: a pattern that backtracks without end blocks this thread
 * and not the supervisor. `started` is said when the schema is compiled, as the limit is for the check alone.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { SchemaCheck } from './compile-check.js';

// Named by the starter, so that it is found in the sources as well as in the build.
const compiler: typeof import('./compile-check.js') = await import((workerData as { compiler: string }).compiler);

const MAX_KEPT = 100;
const checks = new Map<string, SchemaCheck>();

function findCheck(schema: string): SchemaCheck {
  const check = checks.get(schema) ?? compiler.makeCheck(schema);
  if (checks.size >= MAX_KEPT) checks.clear();
  checks.set(schema, check);
  return check;
}

parentPort?.on('message', ({ schema, value }: { schema: string; value: string }) => {
  const check = findCheck(schema);
  const parsed: unknown = JSON.parse(value);
  parentPort?.postMessage('started');
  parentPort?.postMessage(check(parsed));
});
