import { type FakeBackend, makeFakeBackend } from '../../support/fake-backend.js';
import { startWf, type WfHandle } from '../../support/run-wf.js';
import { makeProject, type TestProject } from '../../support/temp-project.js';
import { THREE } from '../cli-kit.js';

/**
 * Starts the three calls A, B and C in a project of their own, and resolves when one of them has begun.
 *
 * @param setUp how the agents behave; by default that call waits at its gate
 */
export async function startThree(
  label: 'A' | 'B' | 'C',
  setUp: Parameters<typeof makeFakeBackend>[1] = { gated: [label] },
  flags: readonly string[] = [],
): Promise<{ project: TestProject; backend: FakeBackend; wf: WfHandle }> {
  const project = makeProject({ files: { 'flow.js': THREE } });
  const backend = makeFakeBackend(project, setUp);
  const wf = startWf(['run', 'flow.js', ...flags, ...backend.flags], { project });
  await backend.waitForStart(label);
  return { project, backend, wf };
}
