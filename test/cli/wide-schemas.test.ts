/** A schema of thousands of flat properties is a schema as any other: for a run, its resume, made-up answers and the check. */
import { expect, it } from 'vitest';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { workflow } from './cli-kit.js';
import { run } from './support/runs.js';

const COUNT = 5_000;
const names = Array.from({ length: COUNT }, (_, i) => `p${i}`);
const schema = {
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
};
const PROGRAM = `const { p3, ...rest } = Object.fromEntries(Array.from({ length: ${COUNT} }, (_, i) => ['p' + i, 'x']));
console.log(JSON.stringify(process.env.WF_CALL_LABEL === 'right' ? { ...rest, p3 } : { ...rest, p4: 1 }))`;

it(`${COUNT} flat properties: answers are checked, reused, made up, and what does not fit is named`, async () => {
  const script = workflow(`const schema = ${JSON.stringify(schema)}
const sizeOf = async (label) => Object.keys(await agent('fill', { label, schema })).length
return [await sizeOf('right'), await sizeOf('wrong').catch((error) => error.message)]`);
  const project = makeProject({ files: { 'flow.js': script, 'answer.mjs': PROGRAM } });
  expect((await runWf(['check', 'flow.js'], { project })).stdout).toBe('1 script checked: nothing to say.\n');
  const flags = ['--backend', 'command', '--command', JSON.stringify([process.execPath, 'answer.mjs'])];
  const first = await run(project, ['flow.js', '--allow-failures', ...flags]);
  const fault = expect.stringMatching(/required property 'p3'.*\/p4 must be string/s);
  expect([first.code, first.result]).toEqual([0, [COUNT, fault]]);
  const again = await run(project, ['--resume-from', first.id, '--allow-failures']);
  expect([again.result, again.state.counts]).toMatchObject([[COUNT, fault], { reused: 1, executed: 1 }]);
  expect((await run(project, ['flow.js', '--dry-run'])).result).toEqual([COUNT, COUNT]);
});
