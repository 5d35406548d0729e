/**
 * The thread that checks answers against schemas with patterns: a pattern that backtracks without end blocks this thread
 * and not the supervisor. `started` is said when the schema is compiled, as the limit is for the check alone.
 */
import { parentPort, workerData } from 'node:worker_threads';

// Named by the starter, so that it is found in the sources as well as in the build.
const compiler: typeof import('./schema-compile.js') = await import((workerData as { compiler: string }).compiler);

parentPort?.on('message', ({ schema, value }: { schema: string; value: string }) => {
  let errors: string[];
  try {
    const check = compiler.compileSchema(JSON.parse(schema));
    const parsed: unknown = JSON.parse(value);
    parentPort?.postMessage('started');
    errors = check(parsed);
  } catch (error) {
    errors = [`/ could not be checked: ${error instanceof Error ? error.message : String(error)}`];
  }
  parentPort?.postMessage(errors);
});
