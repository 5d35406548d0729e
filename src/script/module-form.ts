import { tokenizer } from 'acorn';

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
  if (/^export(?:\s+(?:const|let|var|function|async|class|abstract|enum)\b|\s*\{)/.test(ahead))
    return { end: at + 6, keep: 'export', isStatement: false };
  if (!/^import\b/.test(ahead)) return undefined;
  const end = endOfImport(text, at);
  if (end === undefined) return undefined;
  const isType = /^import\s+type\s+(?!from\s*['"])[^,]/.test(ahead);
  // The checks need no more of an import than that it is there.
  return { end, isStatement: true, ...(isType ? {} : { keep: 'import"";'.slice(0, end - at) }) };
}

/** The offset behind `import … from '…'` with its attributes and semicolon. */
function endOfImport(text: string, at: number): number | undefined {
  try {
    const tokens = tokenizer(text.slice(at), { ecmaVersion: 'latest', sourceType: 'module' });
    let end: number | undefined;
    let inAttributes = false;
    for (let left = 2000; left > 0; left--) {
      const token = tokens.getToken();
      const label = token.type.label;
      if (end === undefined) {
        if (label === 'string') end = at + token.end;
        else if (label === 'eof' || label === '(' || label === ';' || label === '=') return undefined;
      } else if (inAttributes) {
        if (label === 'eof') return undefined;
        if (label !== '}') continue;
        inAttributes = false;
        end = at + token.end;
      } else if (label === 'with') inAttributes = true;
      else return label === ';' ? at + token.end : end;
    }
  } catch {
    // No JavaScript tokens: the stripper's own message says more.
  }
  return undefined;
}
