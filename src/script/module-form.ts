import { type Token, tokenizer } from 'acorn';

/** An import or export in TypeScript, as far as it has to be hidden from the type stripper. */
export interface ModuleForm {
  end: number;
  /** What is put back when the types are gone, so that the checks see it; nothing for what is only about types. */
  keep?: string;
  /** The whole statement is taken out, not only its first word. */
  isStatement: boolean;
}

/** Looks at the `import` or `export` at an offset; `undefined` where it cannot be taken out. */
export function moduleFormAt(text: string, at: number): ModuleForm | undefined {
  const ahead = text.slice(at, at + 200);
  if (/^export\s+(?:type\s+[\w$]|interface\b|declare\b)/.test(ahead)) return { end: at + 6, isStatement: false };
  if (/^export\s+(?:const|let|var|function|async|class|abstract|enum)\b/.test(ahead))
    return { end: at + 6, keep: 'export', isStatement: false };
  // The checks need no more of a list or an import than that it is there.
  const keep = /^import\b/.test(ahead) ? 'import"";' : /^export\s*(?:type\s*)?\{/.test(ahead) ? 'export{};' : undefined;
  const end = keep && endOfStatement(text, at);
  if (!end) return undefined;
  const isType = /^(?:import\s+type\s+(?!from\s*['"]|,)|export\s*type\b)/.test(ahead);
  return { end, isStatement: true, ...(isType ? {} : { keep: keep.slice(0, end - at) }) };
}

/** The offset behind `import … from '…'` or `export {…} from '…'` with its attributes and semicolon. */
function endOfStatement(text: string, at: number): number | undefined {
  try {
    const tokens = tokenizer(text.slice(at), { ecmaVersion: 'latest', sourceType: 'module' });
    const isExport = text.startsWith('export', at);
    let token = tokens.getToken();
    const skipTo = (...labels: string[]): Token | undefined => {
      while (!labels.includes(token.type.label)) {
        if (['eof', '(', ';', '='].includes(token.type.label)) return undefined;
        token = tokens.getToken();
      }
      return token;
    };
    let last = skipTo(isExport ? '}' : 'string');
    if (!last) return undefined;
    token = tokens.getToken();
    if (isExport && text.slice(at + token.start, at + token.end) === 'from') {
      last = skipTo('string');
      token = tokens.getToken();
    }
    if (token.type.label === 'with') {
      last = skipTo('}');
      token = tokens.getToken();
    }
    return last && at + (token.type.label === ';' ? token.end : last.end);
  } catch {
    // No JavaScript tokens: the stripper's own message says more.
    return undefined;
  }
}
