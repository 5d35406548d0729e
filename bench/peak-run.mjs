// One run in a process of its own, for its peak memory. Arguments: folder, shape, and the run to go on from, if any.
import { startWorkflow } from '../dist/index.js';
import { watchPeak } from './watch-peak.mjs';
import { script, settingsIn } from './workload.mjs';

const [folder, shape, resumeFrom] = process.argv.slice(2);
const peak = watchPeak();
const what = resumeFrom ? { resumeFrom } : { source: { text: script(shape, 10_000), filename: 'bench.js' } };
const run = await startWorkflow({ ...settingsIn(folder), ...what });
const { runId, status } = await run.done;
if (status !== 'completed') throw new Error(`the run is ${status}`);
console.log(JSON.stringify({ runId, ...peak.stop() }));
