/** `wf run` in a real terminal: Ctrl-C, also under npm; other keys; and a terminal that goes away. */
import { describe, expect, it } from 'vitest';
import { makeFakeBackend } from '../support/fake-backend.js';
import { expectNoProcessesLeft } from '../support/processes.js';
import { runWf } from '../support/run-wf.js';
import { makeProject } from '../support/temp-project.js';
import { openTerminal, wfCommand } from '../support/terminal.js';
import { waitFor } from '../support/wait.js';
import { answeredLabels, hasState, newestRun, readState, THREE } from './cli-kit.js';
import { needTool } from './support/need-tool.js';

describe('a terminal', () => {
  it('B-092 C1: Ctrl-C cancels; agents and sandbox are ended by the run and not by the key', async (context) => {
    needTool(context, 'script');
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const terminal = openTerminal(project, `exec ${wfCommand(['run', 'flow.js', ...backend.flags])}`);
    await backend.waitForStart('B');
    terminal.type('\x03');
    expect(await terminal.done).toBe(130);
    expect(terminal.output).toMatch(/cancel requested/);
    await expectNoProcessesLeft(project.root);
    expect(readState(project)).toMatchObject({ status: 'cancelled', counts: { ok: 1, noResult: 1 } });
    // SIGINT would have ended it without a word.
    expect(backend.ledger.ends('B')).toMatchObject([{ outcome: 'terminated' }]);
    backend.openAllGates();
    expect(await runWf(['run', '--resume-from', newestRun(project)], { project })).toMatchObject({ code: 0 });
    expect(backend.ledger.starts('A')).toHaveLength(1);
  });

  it('B-092 C1: Ctrl-C under npm run, which hands it on once more, is one Ctrl-C', async (context) => {
    needTool(context, 'script');
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { rules: { B: { ignoreTerm: true, hang: true } } });
    const flow = wfCommand(['run', 'flow.js', ...backend.flags]);
    project.write('package.json', JSON.stringify({ name: 'x', version: '1.0.0', scripts: { flow } }));
    const terminal = openTerminal(project, 'exec npm run flow', { npm_config_update_notifier: 'false' });
    await backend.waitForStart('B');
    terminal.type('\x03');
    await terminal.waitForOutput(/cancel requested/);
    await terminal.done;
    // npm may be gone first; the run is not: its agent has the whole grace, and its end is recorded.
    await waitFor('the end of the run', () => hasState(project));
    expect(readState(project)).toMatchObject({ status: 'cancelled', exitCode: 130 });
    await expectNoProcessesLeft(project.root);
    expect(backend.ledger.lines().filter(({ event }) => event === 'sigterm')).toHaveLength(1);
  });

  it('B-153: no other key has any effect', async (context) => {
    needTool(context, 'script');
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const terminal = openTerminal(project, `exec ${wfCommand(['run', 'flow.js', ...backend.flags])}`);
    await backend.waitForStart('B');
    const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');
    const arrows = ['A', 'B', 'C', 'D'].map((key) => `\x1b[${key}`).join('');
    terminal.type(`${printable}\r${arrows}\x1b\x1b\t\x7f\r${'paste '.repeat(170)}\r`);
    // They have come through when the terminal has echoed them.
    await terminal.waitForOutput(/paste paste \r?\n/);
    backend.openAllGates();
    expect(await terminal.done).toBe(0);
    expect(readState(project)).toMatchObject({ status: 'completed', counts: { ok: 3 } });
  });

  it('B-153 B-092: a terminal that goes away is a SIGHUP: a short drain, what finishes in it is kept', async (context) => {
    needTool(context, 'script');
    const project = makeProject({ files: { 'flow.js': THREE } });
    const backend = makeFakeBackend(project, { gated: ['B'] });
    const terminal = openTerminal(project, `exec ${wfCommand(['run', 'flow.js', ...backend.flags])}`);
    await backend.waitForStart('B');
    terminal.hangUp();
    await terminal.done;
    backend.openGate('B');
    await waitFor('the end of the run', () => hasState(project));
    await expectNoProcessesLeft(project.root);
    expect(readState(project)).toMatchObject({ status: 'interrupted', cause: 'drained' });
    expect(answeredLabels(project)).toEqual(['A', 'B']);
    expect(backend.ledger.starts('C')).toHaveLength(0);
    expect(await runWf(['run', '--resume-from', newestRun(project)], { project })).toMatchObject({ code: 0 });
  });
});
