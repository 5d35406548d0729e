/** Mistakes of authors whose error, in the words of the language, names the symptom: the report adds the cause. */
import { beforeAll, describe, expect, it } from 'vitest';
import { makeProject, type TestProject } from '../support/temp-project.js';
import { META, runScript } from './support/run-script.js';

let project: TestProject;
beforeAll(() => {
  project = makeProject({ until: 'file' });
});

let made = 0;
async function failureOf(body: string, flags: string[] = []): Promise<string> {
  const run = await runScript(project, `${META}${body}`, { file: `hint-${made++}.js`, flags });
  expect(run.code).toBe(1);
  return (run.state.error as { message: string }).message;
}

describe('what a report adds', () => {
  it('C198 a promise that was not awaited', async () => {
    expect(await failureOf("return await parallel([() => agent('a')]).filter(Boolean)")).toBe(
      'TypeError: parallel(...).filter is not a function. It is a promise until it is awaited: `(await parallel(…)).filter`.',
    );
    expect(await failureOf("return (agent.settled('a')).ok.toString()")).not.toContain('awaited');
    expect(await failureOf("return agent('a').trim()")).toContain('`(await agent(…)).trim`');
  });

  it('C198 no args, or args without that member', async () => {
    for (const body of [
      'const { files } = args',
      'return args.files',
      'return await parallel(args.map((a) => () => a))',
    ])
      expect(await failureOf(body)).toMatch(
        /\. `args` is undefined where the run was given none: pass them by `--args` or `--arg`\.$/,
      );
    expect(await failureOf('return args.files.map((f) => f)', ['--args', '{"a":1}'])).toMatch(
      / Pass `files` in args: `--arg files:=…` or `--args`\.$/,
    );
    expect(await failureOf('const mine = {}; return mine.args.files')).not.toContain('--args');
  });

  it('C198 an answer that was expected to be JSON', async () => {
    expect(await failureOf("return JSON.parse(await agent('list them'))")).toMatch(
      /is not valid JSON\. An agent answers in free words; with the option `schema` its answer is data, checked and parsed\.$/,
    );
  });

  it('C042 names of other surroundings', async () => {
    expect(await failureOf("return fs.readFileSync('x')")).toMatch(/fs is not defined in a workflow\..*agent/);
    expect(await failureOf('await sleep(5)')).toMatch(/sleep is not defined in a workflow\..*setTimeout/);
    expect(await failureOf('global.x = 1')).toMatch(/global is not defined in a workflow\. Write `globalThis`\.$/);
    expect(await failureOf("return path.join('a', 'b')")).toMatch(/path is not defined in a workflow\./);
  });
});

describe('results', () => {
  it('C061 a result that is nested too deeply', async () => {
    const run = await runScript(project, `${META}let a = []; for (let i = 0; i < 100_000; i++) a = [a]; return a`, {
      file: 'deep.js',
    });
    expect(run.state.error).toMatchObject({
      code: 'WF_RESULT_NOT_JSON',
      message: expect.stringContaining('nested too deeply'),
    });
  });

  it('C061 another RangeError of the result is told in its own words', async () => {
    const told = await failureOf('return { when: { toJSON: () => new Date(NaN).toISOString() } }');
    expect(told).toContain('RangeError: Invalid time value');
  });
});

it('C191 the summary says what became of calls that nobody waited for', async () => {
  project.write('lost.js', `${META}async function main() { return await agent('x') }\nmain()`);
  const { runWf } = await import('../support/run-wf.js');
  const { stderr, code } = await runWf(['run', 'lost.js', '--backend', 'mock'], { project });
  expect(code).toBe(0);
  expect(stderr).toContain(
    '  left     1 call was open when the script returned, and was ended: `await` what is meant to finish',
  );
});
