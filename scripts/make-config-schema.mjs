// Writes types/wf.schema.json, the JSON schema of the config, from the zod schema that checks it.
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
// Node takes the types away; an import of `x.js` means `x.ts`.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier.startsWith('.') && context.parentURL?.includes('/src/') ? specifier.replace(/\.js$/, '.ts') : specifier,
      context,
    ),
});
const { makeJsonSchema } = await import('../src/config/json-schema.ts');
writeFileSync(join(root, 'types/wf.schema.json'), `${JSON.stringify(await makeJsonSchema(), null, 2)}\n`);
