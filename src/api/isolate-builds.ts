/** Finds the builds of isolated-vm: ready ones come with its packages, each for one version of Node's binary interface. */
import { readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { WfError } from '../shared/errors.js';

/** The newest major first. */
const PACKAGES = ['ivm7', 'ivm6'];

/** Node's major versions by the version of their binary interface (https://nodejs.org/en/download/releases). */
const NODE_OF_ABI: Readonly<Record<string, string>> = { 127: '22', 131: '23', 137: '24', 141: '25', 147: '26' };

/**
 * Addon files that fit this Node, the newest major first. Only paths are found: two of them loaded in one process abort it.
 *
 * @throws WfError `WF_ISOLATE_MISSING`
 */
export function findIsolateBuilds(): string[] {
  const require = createRequire(import.meta.url);
  const found: string[] = [];
  const homes: string[] = [];
  for (const name of PACKAGES) {
    try {
      const home = dirname(require.resolve(`${name}/package.json`));
      homes.push(home);
      const build = createRequire(join(home, 'package.json'))('node-gyp-build') as { path(folder: string): string };
      found.push(realpathSync(build.path(home)));
    } catch {
      // Not installed, or no build for this Node: the next one may have it.
    }
  }
  if (found.length > 0) return found;
  const platform = `${process.platform}-${process.arch}`;
  throw noBuild({ node: process.version, platform, files: homes.flatMap((home) => listBuilds(home, platform)) });
}

function listBuilds(home: string, platform: string): string[] {
  try {
    return readdirSync(join(home, 'prebuilds', platform));
  } catch {
    return [];
  }
}

/**
 * Exported for tests: which Node a person has cannot be chosen there.
 *
 * @param files names of the builds that are there for this platform, such as `isolated-vm.abi137.glibc.node`
 */
export function noBuild({ node, platform, files }: { node: string; platform: string; files: string[] }): WfError {
  const abis = new Set(files.flatMap((file) => /\.abi(\d+)\./.exec(file)?.[1] ?? []));
  const nodes = [...abis].sort((a, b) => Number(a) - Number(b)).map((abi) => NODE_OF_ABI[abi] ?? `with ABI ${abi}`);
  if (nodes.length === 0) {
    return new WfError('WF_ISOLATE_MISSING', `No build of isolated-vm for Node ${node} on ${platform} is installed.`, {
      remedy:
        'Install again with Node 22.13, 24 or 26 on your PATH (npm leaves out optional packages that its Node does not fit).',
    });
  }
  const list = new Intl.ListFormat('en', { type: 'disjunction' }).format(nodes);
  return new WfError('WF_ISOLATE_MISSING', `isolated-vm has no build for Node ${node} on ${platform}.`, {
    remedy: `Run wf with Node ${list}: for these it has one here.`,
  });
}
