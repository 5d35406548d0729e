// The smallest agent: one request to an Anthropic model, the answer on stdout, faults as exit codes and words on stderr.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const tell = (words) => console.error(JSON.stringify(words));
const fail = (kind, message, more = {}) => {
  tell({ wf: 'error', kind, message, ...more });
  process.exit(1);
};
const { WF_CALL_SCHEMA, WF_CALL_MODEL, FAKE_MODEL_URL } = process.env;
const schema = WF_CALL_SCHEMA && readFileSync(WF_CALL_SCHEMA, 'utf8');
const prompt = readFileSync(0, 'utf8') + (schema ? `\nAnswer with JSON that fits ${schema}` : '');
const messages = [{ role: 'user', content: prompt }];
const tools = [{ name: 'Bash', input_schema: { type: 'object' } }];
const usage = { in: 0, out: 0 };

for (;;) {
  const body = { model: WF_CALL_MODEL ?? 'plain', max_tokens: 100_000, messages, tools };
  const response = await ask(body);
  if (!response.ok) refuse(response);
  const message = await response.json();
  usage.in += message.usage.input_tokens;
  usage.out += message.usage.output_tokens;
  const calls = message.content.filter((part) => part.type === 'tool_use');
  if (calls.length === 0) {
    tell({ wf: 'usage', ...usage, usd: (usage.in * 3 + usage.out * 15) / 1e6 });
    process.stdout.write(message.content.map((part) => part.text ?? '').join(''));
    break;
  }
  messages.push({ role: 'assistant', content: message.content });
  messages.push({ role: 'user', content: calls.map(execute) });
}

function execute({ id, input }) {
  tell({ wf: 'progress', text: `$ ${input.command}` });
  const { stdout, stderr } = spawnSync('sh', ['-c', input.command], { encoding: 'utf8' });
  return { type: 'tool_result', tool_use_id: id, content: stdout + stderr };
}

async function ask(body) {
  try {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${FAKE_MODEL_URL}/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { ok: response.ok, status: response.status, headers: response.headers, json: async () => JSON.parse(text) };
  } catch (error) {
    return fail('network', `the model cannot be reached: ${error.cause?.message ?? error.message}`);
  }
}

function refuse({ status, headers }) {
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  const reset = Number(headers.get('anthropic-ratelimit-unified-reset') ?? Number.NaN);
  if (!Number.isNaN(reset)) {
    fail('usage_limit', 'the limit is used up', { resetsAt: new Date(reset * 1_000).toISOString() });
  }
  const kinds = { 401: 'auth', 402: 'billing', 429: 'rate_limit', 500: 'server', 529: 'overloaded' };
  const wait = Number.isNaN(after) ? {} : { retryAfterMs: after * 1_000 };
  fail(kinds[status] ?? 'failed', `the model said ${status}`, wait);
}
