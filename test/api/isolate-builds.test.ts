import { describe, expect, it } from 'vitest';
import { findIsolateBuilds, noBuild } from '../../src/api/isolate-builds.js';

describe('a Node for which isolated-vm has no build', () => {
  it('is told which ones it has builds for', () => {
    const files = ['isolated-vm.abi137.glibc.node', 'isolated-vm.abi137.musl.node', 'isolated-vm.abi127.glibc.node'];
    const error = noBuild({ node: 'v25.9.0', platform: 'linux-x64', files });
    expect(error.code).toBe('WF_ISOLATE_MISSING');
    expect(error.message).toBe('isolated-vm has no build for Node v25.9.0 on linux-x64.');
    expect(error.remedy).toBe('Run wf with Node 22 or 24: for these it has one here.');
  });

  it('is told to install it, where no build is there at all', () => {
    const error = noBuild({ node: 'v24.1.0', platform: 'linux-x64', files: [] });
    expect(error.message).toBe('No build of isolated-vm for Node v24.1.0 on linux-x64 is installed.');
    expect(error.remedy).toContain('Install again with Node 22.13, 24 or 26');
  });

  it('does not exist here: the builds that are found are files of this Node', () => {
    expect(findIsolateBuilds().length).toBeGreaterThan(0);
  });
});
