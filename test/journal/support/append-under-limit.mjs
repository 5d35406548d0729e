// Appends lines to a journal under a limit of the system: `node append-under-limit.mjs <store module> <journal>`.
// Each line of stdin is appended as one line, `flush` flushes; each answer is one JSON line.
import { createInterface } from 'node:readline';

const [module, journal] = process.argv.slice(2);
const { openFileStore } = await import(module);
const store = openFileStore(journal, { sync: process.argv[4] ?? 'group' });
for await (const line of createInterface({ input: process.stdin })) {
  const written = line === 'flush' ? await store.flush() : store.append(Buffer.from(`${line}\n`));
  console.log(JSON.stringify({ written, size: store.size, unwritten: store.unwritten }));
}
store.close();
