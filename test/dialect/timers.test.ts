/** What clearTimeout() may be given, and what it leaves alone. */
import { expect, it } from 'vitest';
import { makeProject } from '../support/temp-project.js';
import { dispatched, META, runFile, runScript } from './support/run-script.js';

const SCRIPT = `${META}const order = []
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const one = agent('one'), child = workflow({ scriptPath: 'child.js' })
for (let id = -3; id < 50; id++) clearTimeout(id)
for (const odd of [NaN, Infinity, 1.5, '1', '__proto__', null, {}, [1], true, Symbol('1'), 1n, -0]) clearTimeout(odd)
clearTimeout()
order.push(await one, await child)
let own
await new Promise((resolve) => { own = setTimeout(() => { clearTimeout(own); clearTimeout(own); resolve() }, 1) })
clearTimeout(own)
const gone = setTimeout(() => order.push('never'), 1)
const behind = agent('behind')
clearTimeout(gone); clearTimeout(gone); clearTimeout(gone + 1)
order.push(await behind)
// Two that are due in one turn: the first clears the second.
await new Promise((resolve) => { let second; setTimeout(() => { clearTimeout(second); resolve() }, 1); second = setTimeout(() => order.push('never'), 1) })
await sleep(20)
order.push(await agent('last'))
return order
`;

it('calls, children and timers that are gone are left alone, in the run and in its replay', async () => {
  const project = makeProject({
    files: { 'child.js': `${META}for (let id = 0; id < 9; id++) clearTimeout(id)\nreturn await agent('in the child')` },
  });
  const first = await runScript(project, SCRIPT, { rules: [{ reply: 'fine' }] });
  expect(first).toMatchObject({ code: 0, result: ['fine', 'fine', 'fine', 'fine'] });
  expect(first.told.filter((line) => !line.startsWith('info: '))).toEqual([]);
  const again = await runFile(project, undefined, ['--resume-from', first.runId]);
  expect(dispatched(again)).toEqual([]);
  expect(again).toMatchObject({ code: 0, result: first.result });
});
