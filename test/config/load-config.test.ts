import { describe, expect, it } from 'vitest';
import { type Config, loadConfig } from '../../src/config/load-config.js';
import { makeProject, type TestProject } from '../support/temp-project.js';

const load = (project: TestProject, folder = 'a/b', env = {}): Promise<Config> =>
  loadConfig({ cwd: project.path(folder), root: project.dir, home: project.home, env });

describe('files of a config', () => {
  it('are put together value by value, named backends whole, secrets of all', async () => {
    const project = makeProject();
    project.write('a/b/.keep', '');
    const tool = (name: string, env: string[]) => ({ command: { [name]: { argv: [name], env } } });
    project.write(
      '.claude/wf.json',
      JSON.stringify({
        retries: 1,
        secrets: ['ONE'],
        models: { fast: { x: 'far', y: 'far' } },
        backends: tool('tool', ['FAR']),
      }),
    );
    project.write(
      'a/.claude/wf.json',
      JSON.stringify({
        secrets: ['TWO'],
        models: { fast: { x: 'near' } },
        backends: { command: { tool: { argv: ['near'] }, other: { argv: ['other'] } } },
      }),
    );
    const { data, files, fileOf } = await load(project);
    expect(files).toEqual(['a/.claude/wf.json', '.claude/wf.json']);
    expect(structuredClone(data)).toEqual({
      retries: 1,
      secrets: ['TWO', 'ONE'],
      models: { fast: { x: 'near', y: 'far' } },
      backends: { command: { tool: { argv: ['near'] }, other: { argv: ['other'] } } },
    });
    expect(fileOf(['models', 'fast', 'x'])).toBe('a/.claude/wf.json');
    expect(fileOf(['models', 'fast', 'y'])).toBe('.claude/wf.json');
    expect(fileOf(['budget'])).toBeUndefined();
  });

  it('above the project root are not read', async () => {
    const project = makeProject();
    project.write('.claude/wf.json', '{');
    project.write('a/b/.keep', '');
    const config = await loadConfig({ cwd: project.path('a/b'), root: project.path('a'), home: project.home, env: {} });
    expect(config.files).toEqual([]);
  });
});
