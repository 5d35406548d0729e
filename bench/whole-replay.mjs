// `wf run --resume-from` of 10,000 finished calls, from the start of its process to its end.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './median.mjs';
import { timeWf } from './run-cli.mjs';
import { ANSWER, script } from './workload.mjs';

const CALLS = 10_000;
const RUNS = '.claude/workflow-runs';

/** Medians of five, taken in turn. */
export function wholeReplay(folder) {
  return ['seq', 'wide'].map((shape) => {
    const at = mkdtempSync(join(folder, 'whole-'));
    writeFileSync(join(at, 'bench.js'), script(shape, CALLS));
    writeFileSync(join(at, 'rules.json'), JSON.stringify([{ reply: ANSWER }]));
    const words = ['--backend', 'mock', '--mock', 'rules.json', '--max-agents', String(CALLS), '-q'];
    timeWf(at, 'run', 'bench.js', ...words);
    const [runId] = readdirSync(join(at, RUNS)).filter((name) => /^[0-9a-f-]{36}$/.test(name));
    const version = [];
    const replay = [];
    for (let i = 0; i < 5; i++) {
      version.push(timeWf(at, '--version'));
      replay.push(timeWf(at, 'run', '--resume-from', runId, ...words));
    }
    return {
      name: `replay ${shape} ${CALLS}: the whole process beyond wf --version`,
      value: `${(median(replay) - median(version)).toFixed(0)} ms`,
      aim: '<= 1000 ms',
    };
  });
}
