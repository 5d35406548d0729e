/** Node, isolated-vm, and whether a sandbox starts here as a run would start it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { explainDeath } from '../../engine/explain-death.js';
import { type SandboxLaunch, type SandboxLink, startSandbox } from '../../engine/sandbox-link.js';
import { WfError } from '../../shared/errors.js';
import { findSandboxLaunch } from '../sandbox-launch.js';
import type { DoctorCheck, Finding } from './finding.js';

const START_MS = 20_000;

export const checkSandbox: DoctorCheck = {
  name: 'sandbox',
  title: 'Node and sandbox',
  async look({ places }) {
    let launch: SandboxLaunch;
    try {
      launch = findSandboxLaunch(places.env);
    } catch (error) {
      if (!WfError.is(error)) throw error;
      const { code, message, remedy } = error;
      return [{ status: 'fault', message: `${code}: ${message}`, ...(remedy === undefined ? {} : { remedy }) }];
    }
    const node: Finding = { status: 'ok', message: `Node ${process.version} on ${process.platform}-${process.arch}.` };
    const sandbox = startSandbox(launch);
    try {
      return [node, await tryStart(sandbox, launch)];
    } finally {
      sandbox.kill();
      await sandbox.gone;
    }
  },
};

async function tryStart(sandbox: SandboxLink, { permission }: SandboxLaunch): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), START_MS);
  });
  const ready = new Promise<{ addon: string }>((resolve) => {
    sandbox.listen((message) => {
      if (message.t === 'ready') resolve({ addon: message.isolatedVm });
    });
  });
  const seen = await Promise.race([ready, sandbox.gone, late]);
  clearTimeout(timer);
  if (seen === 'late') return { status: 'fault', message: `A sandbox had not started after ${START_MS / 1000} s.` };
  if ('addon' in seen) {
    const name = nameAddon(seen.addon);
    if (permission) return { status: 'ok', message: `A sandbox starts under Node's permission model, with ${name}.` };
    return {
      status: 'note',
      message: `A sandbox starts with ${name}, without Node's permission model: WF_SANDBOX_PERMISSION is off.`,
    };
  }
  const cause = seen.why === 'killed' ? 'It was ended from outside.' : explainDeath(seen, { memoryMb: 256 }).message;
  const message = `A sandbox does not start here. ${cause}`;
  return { status: 'fault', message, ...(seen.why === 'not-started' ? {} : { remedy: 'Install wf-engine again.' }) };
}

/** `isolated-vm 7.0.1`, by the package around the addon that was loaded. */
function nameAddon(addon: string): string {
  for (let folder = dirname(addon); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (!existsSync(file)) continue;
    const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
    return `${name} ${version}`;
  }
  return addon;
}
