// The floor for live calls: an isolate that is turned once for each answer, and the pipe, and nothing else.
// No keys, no matching, no options, no journal. Same payloads, same framing as small as it can be.
const { readSync, writeSync } = require('node:fs');
const [addon, script] = process.argv.slice(2);
const { ivm } = require(addon);
const isolate = new ivm.Isolate({ memoryLimit: 256 });
const context = isolate.createContextSync();
let out = '';
context.global.setSync(
  '__call',
  new ivm.Callback((id, text) => {
    out += `${id} ${text}\n`;
  }),
);
const api = isolate
  .compileScriptSync(`(() => {
  const call = __call, pending = new Map(), { stringify, parse } = JSON; let next = 1;
  globalThis.agent = async (prompt) => { const json = await new Promise((r) => { const id = next++; pending.set(id, r); call(id, stringify(prompt)); }); return parse(json); };
  return { deliver: (id, json) => { const r = pending.get(id); pending.delete(id); r(json); }, run: async (f) => { await f(); call(0, '"done"'); } };
})()`)
  .runSync(context, { reference: true });
const deliver = api.getSync('deliver', { reference: true });
const run = api.getSync('run', { reference: true });
const main = isolate.compileScriptSync(script).runSync(context, { reference: true });
const flush = () => {
  if (out !== '') {
    const b = Buffer.from(out);
    out = '';
    for (let n = 0; n < b.length; ) n += writeSync(3, b, n);
  }
};
run.applySync(undefined, [main.derefInto()], { timeout: 30000 });
flush();
let buffer = Buffer.alloc(1 << 20),
  start = 0,
  end = 0;
const need = (n) => {
  if (buffer.length - start < n) {
    const larger = Buffer.alloc(Math.max(buffer.length, n * 2));
    buffer.copy(larger, 0, start, end);
    buffer = larger;
    end -= start;
    start = 0;
  }
  while (end - start < n) {
    const got = readSync(3, buffer, end, buffer.length - end, null);
    if (got === 0) process.kill(process.pid, 'SIGKILL');
    end += got;
  }
};
for (;;) {
  need(8);
  const id = buffer.readUInt32LE(start),
    size = buffer.readUInt32LE(start + 4);
  need(8 + size);
  const json = buffer.toString('utf8', start + 8, start + 8 + size);
  start += 8 + size;
  if (start === end) start = end = 0;
  deliver.applySync(undefined, [id, json], { timeout: 30000 });
  if (start === end || out.length > 1 << 18) flush();
}
