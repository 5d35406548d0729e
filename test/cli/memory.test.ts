/** What a run holds in memory does not grow with what passes through it: growth is compared with growth. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { requireBuild } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';

const SCRIPT = join(import.meta.dirname, 'support', 'peak-run.mjs');
const MB = 1_000_000;

async function peakOf(...args: (string | number)[]): Promise<{ status: string; ok: number; peakMb: number }> {
  requireBuild();
  const project = makeProject();
  // A small heap: for how long V8 puts its collections off must not count as what the run holds.
  const words = ['--max-old-space-size=96', '--max-semi-space-size=8', SCRIPT, project.dir, ...args.map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env: project.env, timeout: 150_000 });
  return JSON.parse(stdout);
}

it('answers that come faster than the script takes them wait on the disk and at their backends, not in memory', async () => {
  const few = await peakOf(200, 0.1 * MB);
  const many = await peakOf(1_200, 0.1 * MB);
  expect([few, many]).toMatchObject([
    { status: 'completed', ok: 200 },
    { status: 'completed', ok: 1_200 },
  ]);
  // 100 MB more pass through; without a bound they are all held (and copied).
  expect(many.peakMb - few.peakMb).toBeLessThan(0.4 * 100);
}, 200_000);

it('B-138 what agents print is not kept: 16 at once that print 4 MB each leave the engine below 400 MB', async () => {
  const noisy = await peakOf(16, 'noise', 4 * MB);
  expect(noisy).toMatchObject({ status: 'completed', ok: 16 });
  expect(noisy.peakMb).toBeLessThan(400);
}, 200_000);
