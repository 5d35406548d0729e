// Large runs: 10,000 answers of 20 kB live and replayed, a journal of 1 GB read in a stream, and lists of 50 such runs.
// Not for CI. Usage: node bench/large.mjs [--gb 1] [--calls 10000]. Each step is a process of its own, so that its peak of memory is its own.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineBackend, explainRun, listRuns, planResume, readRun, startWorkflow } from '../dist/index.js';
import { watchPeak } from './watch-peak.mjs';

const value = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const CALLS = Number(value('--calls', 10_000));
const GB = Number(value('--gb', 1));
const LARGE_ANSWER = 200_000;
const mb = (bytes) => Math.round(bytes / 2 ** 20);

const workflow = (calls) => ({
  filename: 'large.js',
  text: `export const meta = { name: 'large', description: 'bench' }
let size = 0
await Promise.all(Array.from({ length: ${calls} }, async (_, i) => { size += (await agent('Review part ' + i, { label: 'p' + i })).length }))
return size`,
});
const answerOf = (bytes) => 'the "quick" brown fox jumps\n'.repeat(Math.ceil(bytes / 28)).slice(0, bytes);

const steps = {
  async run({ folder, calls, bytes, from }) {
    const text = answerOf(bytes);
    const marks = {};
    const handle = await startWorkflow({
      ...where(folder),
      ...(from ? { resumeFrom: from } : { source: workflow(calls), maxAgents: calls }),
      // An agent answers by way of the event loop; one that did not would pile up its answers before any is passed on.
      backend: defineBackend({ name: 'quick', run: () => new Promise((done) => setTimeout(done, 10, { text })) }),
      concurrency: 16,
      memoryMb: 512,
      keep: 100,
      onEvent: ({ type }) => {
        if (type.startsWith('call.')) marks.last = performance.now();
      },
    });
    const started = performance.now();
    const ended = await handle.done;
    if (ended.status !== 'completed') throw new Error(JSON.stringify(ended.error));
    const sizes = Object.fromEntries(
      readdirSync(ended.folder).map((name) => [name, statSync(join(ended.folder, name)).size]),
    );
    return { id: ended.runId, ms: marks.last - started, counts: ended.counts, sizes };
  },
  async plan({ folder, from }) {
    const { hits, live } = await planResume({
      ...where(folder),
      resumeFrom: from,
      backend: defineBackend({ name: 'noop', run: async () => ({ text: '' }) }),
    });
    return { hits, live };
  },
  async show({ folder, from }) {
    const run = readRun(from, where(folder));
    return { calls: run.calls.length, last: String(run.readDetail(run.calls.at(-1).n).output).length };
  },
  async explain({ folder, from }) {
    return { calls: explainRun(from, undefined, where(folder)).length };
  },
  async list({ folder }) {
    return { runs: listRuns(where(folder)).length };
  },
};

const where = (folder) => ({ cwd: folder, home: folder, env: { PATH: process.env.PATH } });

if (process.argv[2] === '--step') {
  const { step, ...options } = JSON.parse(process.argv[3]);
  const peak = watchPeak();
  const started = performance.now();
  const found = await steps[step](options);
  const { own, sandbox } = peak.stop();
  console.log(JSON.stringify({ ...found, wholeMs: performance.now() - started, own, sandbox }));
  process.exit(0);
}

function perform(step, options) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [import.meta.filename, '--step', JSON.stringify({ step, ...options })],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  if (status !== 0) throw new Error(`${step}: ${stderr || stdout}`);
  return JSON.parse(stdout);
}

const row = (name, { ms, wholeMs, own, sandbox }, more = '') =>
  console.log(
    `${name.padEnd(44)} ${Math.round(ms ?? wholeMs)
      .toString()
      .padStart(7)} ms   peak ${String(own).padStart(5)} MB, sandbox ${String(sandbox).padStart(4)} MB   ${more}`,
  );

const folder = mkdtempSync(join(tmpdir(), 'wf-large-'));
try {
  console.log(`node ${process.version}, ${process.platform}-${process.arch}`);
  const quarter = perform('run', { folder, calls: CALLS / 4, bytes: 20_000 });
  row(`${CALLS / 4} × 20 kB live`, quarter);
  const live = perform('run', { folder, calls: CALLS, bytes: 20_000 });
  const total = Object.values(live.sizes).reduce((sum, size) => sum + size, 0);
  row(
    `${CALLS} × 20 kB live`,
    live,
    `${(total / (CALLS * 20_000)).toFixed(3)} × the payload on the disk; state.json ${live.sizes['state.json']} bytes, events ${mb(live.sizes['events.jsonl'])} MB`,
  );
  const replay = perform('run', { folder, from: live.id, calls: CALLS, bytes: 20_000 });
  row(`${CALLS} × 20 kB replayed`, replay, `${replay.counts.reused} reused, ${replay.counts.executed} executed`);

  const many = Math.round((GB * 1e9) / LARGE_ANSWER);
  const large = perform('run', { folder, calls: many, bytes: LARGE_ANSWER });
  row(`${many} × 200 kB live`, large, `journal ${mb(large.sizes['journal.jsonl'])} MB`);
  row('  planned', perform('plan', { folder, from: large.id }));
  const again = perform('run', { folder, from: large.id, calls: many, bytes: LARGE_ANSWER });
  row('  replayed', again, `${again.counts.reused} reused, ${again.counts.executed} executed`);
  row('  shown', perform('show', { folder, from: again.id }));
  row('  explained', perform('explain', { folder, from: again.id }));

  const runs = join(folder, '.claude', 'workflow-runs');
  for (let i = readdirSync(runs).filter((name) => !name.startsWith('.')).length; i < 50; i++) {
    const copy = join(runs, randomUUID());
    // A list must not care how long the journals are; 50 of 200 MB need not lie there.
    cpSync(join(runs, live.id), copy, { recursive: true, filter: (name) => !name.endsWith('journal.jsonl') });
    utimesSync(copy, i, i);
  }
  const list = perform('list', { folder });
  row('list of 50 runs', list, `${list.runs} runs`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
