/** Prompts that look like the text around them in a frame, a line or a key. */
import { expect, it } from 'vitest';
import { makeProject } from '../support/temp-project.js';
import { hitsIn, madeIn, run } from './support/runs.js';
import { makeShellAgent } from './support/shell-agent.js';

/** No two of them are the same, and some differ only by a half of a character. */
const ODD = [
  ' ',
  '"',
  '\\',
  '","v":1}',
  '"}',
  'x","v":1}","v":1}',
  '","nth":0,"kind":"ok"',
  '["c",1,"',
  '\u2028',
  '\u2029\n\r\0',
  '\ud800',
  '\ud801',
  '\ufffd',
  '\udc00\ud800',
  'a\ud800","v":1}',
  '__proto__',
];

it('J13 J15 odd prompts reach their agents, are on record as they are, and each is answered by its own record', async () => {
  const script = (list: readonly string[]): string =>
    `export const meta = { name: 'odd', description: 'A case' }
return await parallel(${JSON.stringify(list)}.map((text, i) => () => agent(text, { label: 'l' + ${JSON.stringify(ODD)}.indexOf(text) })))
`;
  const project = makeProject({ files: { 'odd.js': script(ODD) } });
  const agent = makeShellAgent(project, { '*': { reply: '$label' } });
  const first = await run(project, ['odd.js', ...agent.flags]);
  expect(first.result).toEqual(ODD.map((_, i) => `l${i}`));
  const recorded = madeIn(project, first.id).sort((a, b) => Number(a.n) - Number(b.n));
  expect(recorded.map(({ prompt }) => prompt)).toEqual(ODD);
  const turned = [...ODD].reverse();
  project.write('odd.js', script(turned));
  const second = await run(project, ['odd.js', '--resume-from', first.id]);
  expect(agent.started(second.id)).toEqual([]);
  expect(second.result).toEqual(turned.map((text) => `l${ODD.indexOf(text)}`));
  expect(hitsIn(project, second.id)).toHaveLength(ODD.length);
});
