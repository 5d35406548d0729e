/** Splits a Markdown file into the fields between its `---` lines and its body. */

export interface FrontMatter {
  fields: Record<string, unknown>;
  body: string;
}

export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const match = /^\uFEFF?---[ \t]*(\r?\n[\s\S]*?)?\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text);
  if (!match) return { fields: {}, body: text.trim() };
  return { fields: await parseFields(match[1] ?? ''), body: (match[2] ?? '').trim() };
}

async function parseFields(text: string): Promise<Record<string, unknown>> {
  const { parseYaml } = await import('../shared/parse-yaml.js');
  try {
    const fields: unknown = parseYaml(text, { schema: 'core', maxAliasCount: 0, logLevel: 'error' });
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields))
      return fields as Record<string, unknown>;
  } catch {
    // `description: Use this: when …` is common and no YAML.
  }
  return readLines(text);
}

/** `key: value` lines; what is indented below a key, or a list, belongs to it. */
function readLines(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  let key: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const field = /^([A-Za-z][\w-]*)[ \t]*:(.*)$/.exec(line);
    const item = /^[ \t]*-[ \t]+(.*)$/.exec(line);
    if (field) {
      key = field[1] as string;
      fields[key] = unquote(field[2] as string);
    } else if (key !== undefined && item) {
      const before = fields[key];
      fields[key] = [...(Array.isArray(before) ? before : []), unquote(item[1] as string)];
    } else if (key !== undefined && /^[ \t]+\S/.test(line) && typeof fields[key] === 'string') {
      fields[key] = `${fields[key]}\n${line.trim()}`.replace(/^[|>][+-]?\n/, '').trim();
    }
  }
  return fields;
}

function unquote(text: string): string {
  const value = text.trim();
  return /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}
