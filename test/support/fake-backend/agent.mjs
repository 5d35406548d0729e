// The fake agent of the tests, run by the `command` backend as `node agent.mjs <control folder>`. It notes its start and
// end in a ledger, waits at a gate when told to, and then does what a table says. fake-backend.ts drives it.
//
// Control folder: ledger.jsonl (ours), behaviours.json (the table), gates/<label>, nonces/ and runs/ (counters).
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, readFileSync, watch, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const control = process.argv[2] ?? process.env.WF_FAKE_CONTROL;
if (!control) throw new Error('Usage: agent.mjs <control folder>');
const env = process.env;
const label = env.WF_CALL_LABEL ?? '';
const gates = join(control, 'gates');
const ledger = openSync(join(control, 'ledger.jsonl'), 'a');
const table = JSON.parse(readFileSync(join(control, 'behaviours.json'), 'utf8'));
const call = { label, pid: process.pid, key: env.WF_CALL_KEY ?? '', attempt: Number(env.WF_ATTEMPT ?? 0) };

/** One line, one write: lines of several agents never mix. */
function note(event, more = {}) {
  writeSync(ledger, `${JSON.stringify({ event, ...call, at: Date.now(), ...more })}\n`);
}

/** The next number of a counter; a file made exclusively is owned by one process alone. */
function count(folder) {
  mkdirSync(folder, { recursive: true });
  for (let n = readdirSync(folder).length + 1; ; n++) {
    try {
      writeFileSync(join(folder, String(n)), '', { flag: 'wx' });
      return n;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

/** What lies in the run folder at this moment, for tests of what is on disk before an agent starts. */
function runFolder() {
  const folder = join(table.runsDir, env.WF_RUN_ID ?? '');
  try {
    const files = readdirSync(folder).sort();
    const journal = files.includes('journal.jsonl') ? readFileSync(join(folder, 'journal.jsonl'), 'utf8') : '';
    return { runFiles: files, journalLines: journal.split('\n').length - 1 };
  } catch {
    return { runFiles: [], journalLines: 0 };
  }
}

function matches(when = {}, nth, prompt) {
  if (when.label !== undefined && !fits(when.label, label)) return false;
  if (when.prompt !== undefined && !fits(when.prompt, prompt)) return false;
  if (when.phase !== undefined && !fits(when.phase, env.WF_CALL_PHASE ?? '')) return false;
  return when.nth === undefined || when.nth === nth;
}

/** `/text/flags` is a regular expression, anything else the whole text. */
function fits(pattern, text) {
  const expression = /^\/(.*)\/([a-z]*)$/s.exec(pattern);
  return expression ? new RegExp(expression[1], expression[2]).test(text) : pattern === text;
}

async function readPrompt() {
  const parts = [];
  for await (const part of process.stdin) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Waits until the gate's file is there: looks at each change of the folder, and now and then besides. */
async function passGate() {
  const file = `gate-${encodeURIComponent(label).slice(0, 200)}`;
  const isOpen = () => readdirSync(gates).some((name) => name === file || name === '.all');
  if (isOpen()) return;
  note('waiting');
  await new Promise((resolve) => {
    const watcher = watch(gates, look);
    const timer = setInterval(look, 25);
    function look() {
      if (!isOpen()) return;
      clearInterval(timer);
      watcher.close();
      resolve();
    }
  });
}

/** Keeps the process alive until a signal ends it. */
const hang = () => new Promise(() => setInterval(() => {}, 60_000));

function startGrandchild({ detached = false, ignoreTerm = false }) {
  const text = `${ignoreTerm ? "process.on('SIGTERM', () => {});" : ''} setInterval(() => {}, 60000)`;
  const child = spawn(process.execPath, ['-e', text, `grandchild-of-${process.pid}`], { detached, stdio: 'ignore' });
  if (detached) child.unref();
  note('grandchild', { grandchild: child.pid });
  return child;
}

function fillIn(value, nonce, prompt) {
  if (typeof value === 'string') {
    const known = { nonce: String(nonce), label, prompt, attempt: String(call.attempt), key: call.key };
    return value.replace(/\{(nonce|label|prompt|attempt|key)\}/g, (_, name) => known[name]);
  }
  if (Array.isArray(value)) return value.map((member) => fillIn(member, nonce, prompt));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fillIn(member, nonce, prompt)]));
}

/** Waits until the text has left: an exit right after a write may lose the rest of a long one. */
const print = (bytes) => new Promise((resolve) => process.stdout.write(bytes, resolve));

async function main() {
  const nth = count(join(control, 'runs', `label-${encodeURIComponent(label).slice(0, 200)}`));
  // Standing rules need the prompt; those that must not read it are found by label alone.
  const early =
    table.rules.find((rule) => rule.when?.prompt === undefined && matches(rule.when, nth, ''))?.behaviour ?? {};
  process.on('SIGTERM', () => {
    note('sigterm');
    if (early.ignoreTerm) return;
    note('end', { outcome: 'terminated' });
    process.exit(143);
  });
  if (early.readInput === false) process.stdin.destroy();
  const prompt = early.readInput === false ? '' : await readPrompt();
  const behaviour = table.rules.find((rule) => matches(rule.when, nth, prompt))?.behaviour ?? {};
  // Taken before the start is told: whoever waits for a start and then kills knows that this number is gone.
  const nonce = count(join(control, 'nonces'));
  note('start', {
    nth,
    ppid: process.ppid,
    prompt: prompt.slice(0, 300),
    promptBytes: Buffer.byteLength(prompt),
    cwd: process.cwd(),
    runId: env.WF_RUN_ID ?? '',
    phase: env.WF_CALL_PHASE ?? '',
    model: env.WF_CALL_MODEL ?? '',
    schema: env.WF_CALL_SCHEMA !== undefined,
    env: Object.keys(env).sort(),
    ...runFolder(),
  });
  await act(behaviour, { nth, nonce, prompt });
}

async function act(behaviour, { nth, nonce, prompt }) {
  const end = (outcome, more) => note('end', { outcome, nonce, ...more });
  for (const line of behaviour.stderr ?? []) process.stderr.write(`${line}\n`);
  if (behaviour.spawnGrandchild) startGrandchild(behaviour.spawnGrandchild);
  if (behaviour.killParent) process.kill(process.ppid, behaviour.killParent);
  if (behaviour.gate || table.gated.some((pattern) => fits(pattern, label))) await passGate();
  if (behaviour.delayMs) await sleep(behaviour.delayMs);
  if (behaviour.touch) writeFileSync(behaviour.touch, `${label} ${nonce}\n`, { flag: 'a' });
  if (behaviour.hang) return hang();
  if (behaviour.dieBy) {
    end('died');
    process.kill(process.pid, behaviour.dieBy);
    return hang();
  }
  if (behaviour.tokens) {
    process.stderr.write(`${JSON.stringify({ wf: 'usage', ...behaviour.tokens })}\n`);
  }
  const code = behaviour.fail ?? (nth <= (behaviour.flaky?.times ?? 0) ? behaviour.flaky.code : 0);
  if (code !== 0) {
    if (!behaviour.stderr) process.stderr.write(`fake failure of ${label}\n`);
    end('failed', { code });
    process.exit(code);
  }
  await print(answerOf(behaviour, nonce, prompt));
  end('ok');
  if (behaviour.killParentAtEnd) process.kill(process.ppid, behaviour.killParentAtEnd);
  process.exit(0);
}

function answerOf(behaviour, nonce, prompt) {
  if (behaviour.rawBase64 !== undefined) return Buffer.from(behaviour.rawBase64, 'base64');
  if (behaviour.raw !== undefined) return fillIn(behaviour.raw, nonce, prompt);
  if (behaviour.bytes !== undefined) return 'x'.repeat(behaviour.bytes);
  const fallback = env.WF_CALL_SCHEMA ? { answer: '{label}', nonce } : '{label} answered #{nonce}';
  const value = fillIn(behaviour.value === undefined ? fallback : behaviour.value, nonce, prompt);
  return typeof value === 'string' && !env.WF_CALL_SCHEMA ? value : JSON.stringify(value);
}

await main();
