/** What the shape of a config cannot say: the name of a backend has one meaning. */
import { BACKEND_KINDS } from '../agents/backend-kinds.js';
import { WfError } from '../shared/errors.js';
import type { Config } from './merge-configs.js';

/** @throws WfError `WF_CONFIG` for a named backend that bears the name of a kind, or of another one */
export function checkNames({ data, fileOf }: Config): void {
  const seen = new Map(Object.keys(BACKEND_KINDS).map((name) => [name, 'the name of a kind of backends']));
  for (const [kindName, kind] of Object.entries(BACKEND_KINDS)) {
    const set = kind.many ? (data.backends as Record<string, object> | undefined)?.[kindName] : undefined;
    for (const name of Object.keys(set ?? {})) {
      const path = ['backends', kindName, name];
      const file = fileOf(path) ?? 'the config';
      const other = seen.get(name);
      if (other !== undefined) {
        throw new WfError('WF_CONFIG', `${path.join('.')}: ${name} is also ${other}.`, {
          remedy: 'Give it another name.',
          place: { file },
        });
      }
      seen.set(name, `backends.${kindName}.${name} of ${file}`);
    }
  }
}
