/** Finds what the sandbox process needs: its own bundle and a build of isolated-vm for this Node. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxLaunch } from '../engine/sandbox-link.js';
import { WfError } from '../shared/errors.js';
import { siblingModule } from '../shared/sibling-module.js';
import { findIsolateBuilds } from './isolate-builds.js';

const MIN_NODE = [22, 13] as const;

/**
 * @throws WfError `WF_NODE_VERSION`, `WF_PLATFORM`, `WF_ISOLATE_MISSING`
 */
export function findSandboxLaunch(env: Readonly<Record<string, string | undefined>>): SandboxLaunch {
  checkPlatform();
  const folder = findBundle();
  const addons = findIsolateBuilds();
  return {
    nodePath: process.execPath,
    sandboxPath: realpathSync(join(folder, 'process', 'sandbox.cjs')),
    preludePath: realpathSync(join(folder, 'prelude.js')),
    addons,
    permission: env.WF_SANDBOX_PERMISSION !== 'off',
  };
}

function checkPlatform(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
    throw new WfError('WF_NODE_VERSION', `wf needs Node ${MIN_NODE.join('.')} or newer; this is ${process.version}.`, {
      remedy: 'Run it with a newer Node; in a checkout of wf, `npm run setup` installs one beside it.',
    });
  }
  if (process.platform === 'win32') {
    throw new WfError('WF_PLATFORM', 'wf runs on Linux and macOS; on Windows use it inside WSL.');
  }
}

/** From the sources (tests) the bundle of the build is used: the sandbox runs only as one file. */
function findBundle(): string {
  return fileURLToPath(new URL('../dist/engine/sandbox', siblingModule(import.meta.url, 'index')));
}
