// What the bench runs: calls with prompts of 1 kB and answers of 1.8 kB: one after the other, sixteen at a time, all at once.
import { defineBackend } from '../dist/index.js';

const PAD = 'lorem ipsum dolor sit amet '.repeat(40);
export const ANSWER = 'the quick brown fox jumps '.repeat(72).slice(0, 1800);

/** At a time, as most runs have it. */
const SOME = 16;

export const body = {
  seq: (n) =>
    `const pad = ${JSON.stringify(PAD)}; for (let i = 0; i < ${n}; i++) await agent(('Review file number ' + i + ' ' + pad).slice(0, 1000));`,
  some: (n) =>
    `const pad = ${JSON.stringify(PAD)}; await Promise.all(Array.from({ length: ${SOME} }, async (_, at) => { for (let i = at; i < ${n}; i += ${SOME}) await agent(('Review file number ' + i + ' ' + pad).slice(0, 1000)); }));`,
  wide: (n) =>
    `const pad = ${JSON.stringify(PAD)}; await Promise.all(Array.from({ length: ${n} }, (_, i) => agent(('Review file number ' + i + ' ' + pad).slice(0, 1000))));`,
};

/** It tells when it has all answers. */
export const script = (shape, n) =>
  `export const meta = { name: 'bench-${shape}', description: 'bench' }\n${body[shape](n)}\nlog('all is here')\nreturn ${n}`;

/** Answers at once, in this process. */
export const noop = defineBackend({
  name: 'noop',
  run: async () => ({ text: ANSWER, usage: { inputTokens: 300, outputTokens: 450 } }),
});

export const settingsIn = (folder) => ({
  cwd: folder,
  home: folder,
  env: { PATH: process.env.PATH },
  backend: noop,
  concurrency: 100_000,
  maxAgents: 1_000_000,
});
