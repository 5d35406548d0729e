/** Calls as hurried authors write them: what can only be meant one way is taken, what says nothing is refused in words. */
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject } from '../support/temp-project.js';
import { eventsOf, META, runProbes, type ScriptRun, type Thrown } from './support/run-script.js';

let run: ScriptRun & { table: Record<string, unknown> };
const thrown = (name: string): Thrown => run.table[name] as Thrown;

beforeAll(async () => {
  const project = makeProject({ until: 'file' });
  project.write('child.js', `${META}return 'child'`);
  run = await runProbes(
    project,
    `
await probe('numbers', () => agent('a', { label: 42, phase: 7 }))
await probe('none', () => agent('from the prompt', { label: '  ' }))
await probe('labelObject', () => agent('b', { label: { no: 1 } }))
await probe('labelNaN', () => agent('b', { label: NaN }))
await probe('shorthand', () => agent('c', { schema: { title: 'string', count: 'number' } }))
await probe('foreign', () => agent('d', { schema: { _def: { typeName: 'ZodObject' }, parse() {} } }))
await probe('empty', () => agent('e', { schema: {} }))
await probe('own', () => agent('e', { schema: { description: 'anything', 'x-order': 1 } }))
await probe('told', () => agent('f', { schema: { description: 'anything', 'x-own': 1, type: 'object' } }))
await probe('path', () => workflow('./child.js'))
await probe('file', () => workflow('child.js'))
await probe('right', () => workflow({ scriptPath: './child.js' }))`,
  );
});

describe('what can only be meant one way', () => {
  it('C084 a number as label or phase is its text; a label without a visible character is none', () => {
    const queued = eventsOf(run, 'call.queued');
    expect(queued[0]).toMatchObject({ label: '42', phase: '7' });
    expect(queued[1]).toMatchObject({ label: 'from the prompt' });
    for (const name of ['labelObject', 'labelNaN'])
      expect(thrown(name)).toMatchObject({ thrown: 'TypeError', code: 'WF_AGENT_OPTIONS' });
  });
});

describe('what says nothing', () => {
  it('C076 a schema that limits nothing and holds foreign names is refused before anything is spent', () => {
    expect(thrown('shorthand')).toMatchObject({ thrown: 'TypeError', code: 'WF_SCHEMA_INVALID' });
    expect(thrown('shorthand').message).toContain('`count` is no keyword of JSON Schema');
    expect(thrown('shorthand').message).toContain("{ type: 'object', properties: { … } }");
    expect(thrown('foreign').message).toContain('`_def`');
    expect(run.table).not.toHaveProperty('empty.thrown');
    expect(run.table).not.toHaveProperty('own.thrown');
    expect(run.table).not.toHaveProperty('told.thrown');
  });

  it('C133 a path where a name belongs: the error says how a file is called', () => {
    for (const name of ['path', 'file']) {
      expect(thrown(name)).toMatchObject({ code: 'WF_WORKFLOW_UNKNOWN' });
      expect(thrown(name).message).toMatch(/A file is called by workflow\(\{ scriptPath: "(?:\.\/)?child\.js" \}\)\.$/);
    }
    expect(run.table.right).toBe('child');
  });
});
