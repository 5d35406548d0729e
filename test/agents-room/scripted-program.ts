/** The programs of `fixtures/agents/testing` that speak like an agent, ask no model, and do what a file of steps says. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readJsonLines } from '../support/json-lines.js';
import { makeFileFolder } from '../support/temp-folder.js';

export interface ScriptedProgram<Start> {
  /** Path of the program. */
  program: string;
  /** Of this test file; also the program's home. */
  folder: string;
  /** Names of the variables that the program itself goes by. */
  variables: string[];
  /** @param steps what the program does in each attempt; see the program itself */
  script(steps: readonly object[]): { env: Record<string, string>; starts(): Start[] };
}

/** To be called outside of the tests. */
export function scriptedProgram<Start>(name: 'claude' | 'codex'): ScriptedProgram<Start> {
  const folder = makeFileFolder(name);
  const variable = `SCRIPTED_${name.toUpperCase()}`;
  let files = 0;
  return {
    program: join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'testing', `scripted-${name}.mjs`),
    folder,
    variables: [variable, `${variable}_LOG`],
    script(steps) {
      const file = join(folder, `steps-${files++}.json`);
      const log = `${file}.log`;
      writeFileSync(file, JSON.stringify(steps));
      return {
        env: {
          PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
          HOME: folder,
          [variable]: file,
          [`${variable}_LOG`]: log,
        },
        starts: () => (existsSync(log) ? readJsonLines(readFileSync(log, 'utf8')) : []),
      };
    },
  };
}
