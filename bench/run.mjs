// Every figure is a ratio to a floor that is measured in the same run, on the same data. Usage: npm run bench [-- --quick]
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findSandboxLaunch } from '../dist/api/sandbox-launch.js';
import { startWorkflow } from '../dist/index.js';
import { bareLoop } from './bare-loop.mjs';
import { median } from './median.mjs';
import { startUp } from './start-up.mjs';
import { wholeReplay } from './whole-replay.mjs';
import { ANSWER, body, script, settingsIn } from './workload.mjs';

const ROUNDS = process.argv.includes('--quick') ? 1 : 3;
const folder = mkdtempSync(join(tmpdir(), 'wf-bench-'));

async function run(options) {
  const marks = {};
  const handle = await startWorkflow({
    ...settingsIn(folder),
    onEvent: (event) => {
      if (event.type === 'run.started') marks.start = performance.now();
      if (event.type.startsWith('call.') && marks.first === undefined) marks.first = performance.now();
      if (event.type === 'log') marks.last = performance.now();
    },
    ...options,
  });
  const result = await handle.done;
  if (result.status !== 'completed') throw new Error(JSON.stringify(result.error));
  return { ...result, ms: marks.last - marks.first, fromStart: marks.last - marks.start };
}

/** read + parse + sha256 + stringify of what the replay works on. */
function replayFloor(file) {
  const started = performance.now();
  let sum = 0;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const entry = JSON.parse(line);
    if (entry.type !== 'result') continue;
    sum +=
      hash('sha256', JSON.stringify({ prompt: entry.prompt, v: 1 }), 'hex').length +
      JSON.stringify(entry.output).length;
  }
  if (sum === 0) throw new Error('nothing to read');
  return performance.now() - started;
}

const rows = [];
const row = (name, value, aim) => {
  rows.push({ name, value, aim });
  console.log(`${name.padEnd(66)} ${value.padStart(9)}   aim ${aim}`);
};

console.log(`node ${process.version}, ${process.platform}-${process.arch}, ${ROUNDS} rounds, medians`);
const { addons } = findSandboxLaunch(process.env);
const spent = { seq: {}, some: {}, wide: {} };
const runs = {};
for (const shape of ['seq', 'some', 'wide']) {
  for (const n of [1000, 10_000]) {
    const ours = [];
    const floor = [];
    const keeping = [];
    for (let i = 0; i < ROUNDS; i++) {
      floor.push(await bareLoop(addons[0], body[shape](n), () => ANSWER));
      keeping.push(await bareLoop(addons[0], body[shape](n), () => ANSWER, join(folder, `bare-${shape}-${n}-${i}`)));
      const result = await run({ source: { text: script(shape, n), filename: 'bench.js' } });
      ours.push(result.ms);
      runs[shape] = result;
    }
    spent[shape][n] = median(ours);
    row(
      `live ${shape} ${n}: wf / bare loop (${median(ours).toFixed(0)} / ${median(floor).toFixed(0)} ms)`,
      `${(median(ours) / median(floor)).toFixed(2)} x`,
      '<= 1.5 x',
    );
    row(
      `live ${shape} ${n}: wf / bare loop that keeps what it is given (${median(keeping).toFixed(0)} ms)`,
      `${(median(ours) / median(keeping)).toFixed(2)} x`,
      '-',
    );
  }
  row(
    `live ${shape}: cost of 10 000 / cost of 1 000`,
    `${(spent[shape][10_000] / spent[shape][1000]).toFixed(1)} x`,
    '<= 12 x',
  );
}
for (const shape of ['seq', 'wide']) {
  const ours = [];
  const floor = [];
  const whole = [];
  for (let i = 0; i < ROUNDS; i++) {
    floor.push(replayFloor(join(runs[shape].folder, 'journal.jsonl')));
    const before = performance.now();
    const result = await run({ resumeFrom: runs[shape].runId });
    if (result.counts.reused !== 10_000) throw new Error(`reused ${result.counts.reused}`);
    ours.push(result.ms);
    whole.push(performance.now() - before);
  }
  row(
    `replay ${shape} 10000: wf / floor (${median(ours).toFixed(0)} / ${median(floor).toFixed(0)} ms; all in ${median(whole).toFixed(0)} ms)`,
    `${(median(ours) / median(floor)).toFixed(2)} x`,
    '<= 2.5 x',
  );
}
/** Peak memory of a run in a process of its own. */
function peakOf(shape, resumeFrom = '') {
  const file = new URL('./peak-run.mjs', import.meta.url).pathname;
  return JSON.parse(execFileSync(process.execPath, [file, folder, shape, resumeFrom], { encoding: 'utf8' }));
}
for (const shape of ['seq', 'wide']) {
  const live = peakOf(shape);
  const replay = peakOf(shape, live.runId);
  row(`peak RSS ${shape} 10000 live: supervisor / sandbox`, `${live.own} / ${live.sandbox} MB`, '< 250 MB');
  row(`peak RSS ${shape} 10000 replay: supervisor / sandbox`, `${replay.own} / ${replay.sandbox} MB`, '< 250 MB');
}
for (const { name, value, aim } of [...wholeReplay(folder), ...startUp(folder)]) row(name, value, aim);
rmSync(folder, { recursive: true, force: true });
