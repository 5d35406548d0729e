/** An agent that no signal reaches (it runs as another user, or is stuck in the kernel) does not keep `wf` from its end. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { isAlive } from '../support/processes.js';
import { requireBuild } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';

const ENTRY = pathToFileURL(join(import.meta.dirname, '..', '..', 'dist', 'index.js')).href;

it.each(['command', 'acp'])(
  'of the backend %s',
  async (backend) => {
    requireBuild();
    const project = makeProject({
      files: {
        'flow.js': workflow("return await agent('x', { timeoutMs: 1000 })"),
        agent: 'echo $$ > "$HOME/agent.pid"\nexec sleep 120\n',
      },
      leavesProcesses: true,
    });
    // To this process every other one is somebody else's.
    const program = `import { runWorkflow } from ${JSON.stringify(ENTRY)};
const kill = process.kill;
process.kill = (pid, signal) => {
  if (pid === process.pid) return kill.call(process, pid, signal);
  throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
};
const { status, result } = await runWorkflow({ script: 'flow.js', backend: '${backend}', command: ['sh', ${JSON.stringify(project.path('agent'))}], retries: 0 });
console.log(status, result);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: project.dir,
      env: { ...project.env },
      // The agent lives far longer.
      timeout: 40_000,
      killSignal: 'SIGKILL',
    });
    expect(stdout).toBe('completed null\n');
    expect(isAlive(Number(readFileSync(join(project.home, 'agent.pid'), 'utf8')))).toBe(true);
  },
  60_000,
);
