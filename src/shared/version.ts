import { readFileSync } from 'node:fs';
import { siblingModule } from './sibling-module.js';

/** Version of this package. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../package.json', siblingModule(import.meta.url, 'index')), 'utf8')) as {
    version: string;
  }
).version;
