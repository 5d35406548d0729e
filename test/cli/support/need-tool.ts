import { spawnSync } from 'node:child_process';
import type { TestContext } from 'vitest';

/**
 * For tests that need a program of the system: without it they are skipped with the reason, but not in CI, where a
 * missing program would hide a requirement for ever.
 */
export function needTool(context: TestContext, name: string, args: readonly string[] = ['--version']): void {
  const tried = spawnSync(name, args, { stdio: 'ignore' });
  if (tried.status === 0) return;
  const reason = `${name} is not here or does not work (${tried.error?.message ?? `exit ${tried.status}`})`;
  if (process.env.CI) throw new Error(`${reason}; CI must have it.`);
  context.skip(reason);
}
