#!/usr/bin/env node
/** Entry of the command. It must start on any Node, to say which one is needed; the rest is loaded only when needed. */
import * as nodeModule from 'node:module';
import { VERSION } from '../shared/version.js';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(
    `wf: WF_NODE_VERSION: wf needs Node 22.13 or newer; this is ${process.version}.\n` +
      '  → Run it with a newer Node; in a checkout of wf, `npm run setup` installs one beside it.\n',
  );
  process.exitCode = 2;
} else {
  nodeModule.enableCompileCache?.();
  // Of the two together Node warns on stderr, which a reporter may have to itself. `NO_COLOR` is the one that counts here.
  if (process.env.NO_COLOR) delete process.env.FORCE_COLOR;
  else if (process.env.FORCE_COLOR !== undefined) delete process.env.NODE_DISABLE_COLORS;
  const { runCommandLine } = await import('./program.js');
  process.exitCode = await runCommandLine(words);
}
