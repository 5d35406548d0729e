/** What is depended on, and what is published. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { requireBuild } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { ROOT, readText } from './repository.js';

const manifest = JSON.parse(readText('package.json')) as Record<string, Record<string, string>>;

describe('package.json', () => {
  it('pins every version exactly', () => {
    const all = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {}),
    );
    expect(all.length).toBeGreaterThan(10);
    const loose = all.filter(([, version]) => !/^(npm:[^@]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
    expect(loose).toEqual([]);
  });

  it('depends on none of the ways to run code that are no isolate', () => {
    expect(manifest.dependencies).not.toHaveProperty('vm2');
    expect(
      Object.values(manifest.optionalDependencies ?? {}).filter((version) => /isolated-vm@[0-5]\./.test(version)),
    ).toEqual([]);
  });

  it('has a lock file that names the public registry alone', () => {
    const lock = JSON.parse(readText('package-lock.json')) as {
      packages: Record<string, { resolved?: string; version: string }>;
    };
    const hosts = Object.values(lock.packages).flatMap(({ resolved }) => (resolved ? [new URL(resolved).host] : []));
    expect([...new Set(hosts)].filter((host) => host !== 'registry.npmjs.org')).toEqual([]);
    for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      expect(`${name} ${lock.packages[`node_modules/${name}`]?.version}`).toBe(`${name} ${version}`);
    }
  });
});

describe('package-lock.json', () => {
  it('has an entry for everything that a package may install, as `npm ci` demands', () => {
    type Entry = { dependencies?: Record<string, string>; optionalDependencies?: Record<string, string> };
    const { packages } = JSON.parse(readText('package-lock.json')) as { packages: Record<string, Entry> };
    const isThere = (place: string, name: string): boolean => {
      // As Node looks it up: in the package's own node_modules, then in those above.
      for (let at = place; ; at = at.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
        if (packages[at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`]) return true;
        if (at === '') return false;
      }
    };
    const missing = Object.entries(packages).flatMap(([place, entry]) =>
      Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
        .filter((name) => !isThere(place, name))
        .map((name) => `${name}, for ${place}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the published package', () => {
  it('holds the build and the pages about it, nothing else', () => {
    requireBuild();
    const project = makeProject();
    const listing = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: project.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const files = (JSON.parse(listing) as { files: { path: string }[] }[])[0]?.files.map(({ path }) => path) ?? [];
    const strange = files.filter(
      (file) =>
        !/^(dist\/.+\.(c?js|d\.ts)|dist\/THIRD-PARTY-NOTICES\.txt|types\/workflow\.d\.ts|types\/wf\.schema\.json|package\.json|docs\/[a-z-]+\.md|README\.md|LICENSE|CHANGELOG\.md)$/.test(
          file,
        ),
    );
    expect(strange).toEqual([]);
    // What the README names as pages must be there for who has the package alone.
    const pages = [...readText('README.md').matchAll(/\]\((docs\/[^)#]+)/g)].map(([, page]) => page);
    expect(pages.length).toBeGreaterThan(5);
    expect(files).toEqual(expect.arrayContaining(pages));
    const needed = [
      'dist/cli/main.js',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/engine/sandbox/prelude.js',
      'types/workflow.d.ts',
      'types/wf.schema.json',
    ];
    expect(files).toEqual(
      expect.arrayContaining([...needed, 'dist/engine/sandbox/process/sandbox.cjs', 'package.json']),
    );
  });
});
