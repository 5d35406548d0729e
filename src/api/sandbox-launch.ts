/** Finds what the sandbox process needs: its own bundle and a build of isolated-vm for this Node. */
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SandboxLaunch } from '../engine/sandbox-link.js';
import { WfError } from '../shared/errors.js';
import { siblingModule } from '../shared/sibling-module.js';

const MIN_NODE = [22, 13] as const;

/**
 * @throws WfError `WF_NODE_VERSION`, `WF_PLATFORM`, `WF_ISOLATE_MISSING`
 */
export function findSandboxLaunch(env: Readonly<Record<string, string | undefined>>): SandboxLaunch {
  checkPlatform();
  const folder = findBundle();
  const addons = findAddons();
  if (addons.length === 0) {
    throw new WfError(
      'WF_ISOLATE_MISSING',
      `No build of isolated-vm for Node ${process.version} on ${process.platform}-${process.arch} is installed.`,
      {
        remedy:
          'Install again with Node 22.13 or newer on your PATH (npm leaves out optional packages that its Node does not fit).',
      },
    );
  }
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

/** Addon files, the newest major first. Only paths are found here: two of them loaded in one process abort it. */
function findAddons(): string[] {
  const require = createRequire(import.meta.url);
  const found: string[] = [];
  for (const name of ['ivm7', 'ivm6']) {
    try {
      const home = dirname(require.resolve(`${name}/package.json`));
      const build = createRequire(join(home, 'package.json'))('node-gyp-build') as { path(folder: string): string };
      found.push(realpathSync(build.path(home)));
    } catch {
      // Not installed, or no build for this Node: the next one may have it.
    }
  }
  return found;
}
