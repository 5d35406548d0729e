/** Random workflow scripts, as text: groups in groups, equal prompts, chains, races, timers, semaphores, retries, children. */

export interface GeneratedScript {
  text: string;
  children: Record<string, string>;
}

export interface GenerateOptions {
  depth?: number;
  /** Shapes whose outcome depends on the order of answers. */
  races?: boolean;
  retries?: boolean;
  /** Shapes that leave calls and timers behind: calls with a time limit of the script's own, children that return before all is done. */
  leftovers?: boolean;
}

type Random = () => number;

export function generateScript(random: Random, options: GenerateOptions = {}): GeneratedScript {
  const children: Record<string, string> = {};
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const number = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const prompt = (): string =>
    pick(["'vote'", "'word'", `'p${number(0, 5)}'`, `'long ' + 'x'.repeat(${number(1, 300)})`]);
  let names = 0;
  const shapes = ['seq', 'par', 'pipe', 'all', 'call', 'chain', 'timer', 'sem', 'child', 'schema'];
  if (options.races) shapes.push('race', 'race');
  if (options.retries) shapes.push('retry', 'retry');
  if (options.leftovers) shapes.push('limit', 'limit', 'hasty', 'hasty');

  /** An expression that gives a JSON value. */
  const make = (depth: number, inChild: boolean): string => {
    const shape = depth <= 0 ? pick(['call', 'call', 'chain']) : pick(shapes);
    const many = (): string[] => Array.from({ length: number(1, 4) }, () => make(depth - 1, inChild));
    const v = `v${names++}`;
    switch (shape) {
      case 'chain':
        return `(async () => { const ${v} = await agent(${prompt()}); return await agent('refine ' + ${v}) })()`;
      case 'seq':
        return `(async () => { const ${v} = []; ${many()
          .map((item) => `${v}.push(await ${item});`)
          .join(' ')} return ${v} })()`;
      case 'par':
        return `parallel([${many()
          .map(
            (item, i) =>
              `async () => { const ${v} = await ${item}; return await agent('judge ${i} ' + JSON.stringify(${v})) }`,
          )
          .join(', ')}])`;
      case 'pipe':
        return `pipeline(${JSON.stringify(Array.from({ length: number(1, 4) }, (_, i) => i))}, () => ${make(depth - 1, inChild)}, (${v}, item, i) => agent('stage ' + i + ' ' + JSON.stringify(${v})))`;
      case 'all':
        return `Promise.all([${many().join(', ')}])`;
      case 'timer':
        return `(async () => { await new Promise(r => setTimeout(r, ${number(0, 50)})); return await ${make(depth - 1, inChild)} })()`;
      case 'sem':
        return `(async () => { let free = 1; const q = []; const take = () => free > 0 ? (free--, Promise.resolve()) : new Promise(r => q.push(r)); const give = () => { const n = q.shift(); if (n) n(); else free++ }; return Promise.all([${many()
          .map((item) => `(async () => { await take(); try { return await ${item} } finally { give() } })()`)
          .join(', ')}]) })()`;
      case 'race':
        return `(async () => { const ${v} = await Promise.race([agent(${prompt()}).then(() => 'S'), agent(${prompt()}).then(() => 'F')]); return await agent('after ' + ${v}) })()`;
      case 'retry':
        return `(async () => { let ${v} = null; for (let i = 0; i < 3 && ${v} === null; i++) { ${v} = await agent(${prompt()}); if (${v} === null) await new Promise(r => setTimeout(r, 5)) } return ${v} })()`;
      case 'child': {
        if (inChild) return `agent(${prompt()})`;
        const name = `child${Object.keys(children).length}`;
        children[name] =
          `export const meta = { name: '${name}', description: 'generated' }\nreturn await ${make(depth - 1, true)}`;
        return `workflow('${name}', { n: ${number(0, 3)} })`;
      }
      case 'limit':
        // The number before the timer's is that of the call, which clearTimeout must leave alone.
        return `(async () => { let id; const ${v} = await Promise.race([agent(${prompt()}), new Promise(r => { id = setTimeout(r, ${number(0, 50)}, 'late') })]); clearTimeout(id - 1); clearTimeout(id); clearTimeout(id); return await agent('after ' + ${v}) })()`;
      case 'hasty': {
        if (inChild) return `agent(${prompt()})`;
        const name = `child${Object.keys(children).length}`;
        children[name] = '';
        children[name] =
          `export const meta = { name: '${name}', description: 'generated' }\nagent(${prompt()}); setTimeout(() => {}, ${number(0, 50)})\nreturn await Promise.race([${make(depth - 1, true)}, ${make(depth - 1, true)}])`;
        return `workflow('${name}', {})`;
      }
      case 'schema':
        return `agent(${prompt()}, { label: 'l${number(0, 3)}', phase: 'P${number(0, 2)}', model: ${pick(["'a'", "'b'"])} })`;
      default:
        return `agent(${prompt()})`;
    }
  };
  const depth = options.depth ?? 2;
  const parts = [make(depth, false), make(depth, false), make(depth - 1, false)];
  const text = `export const meta = { name: 'generated', description: 'generated' }\nconst out = []\n${parts.map((part) => `out.push(await ${part})`).join('\n')}\nreturn await agent('final ' + JSON.stringify(out))`;
  return { text, children };
}
