// `node scripts/ensure-setup.mjs <task> [arguments]`: makes a fresh clone ready and runs a task in it.
// Runs on Node 20 as well, without any package: it installs when node_modules is not what package-lock.json says,
// then does everything else under the Node 24 that was installed.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonToInstall } from './compare-install.mjs';
import { runProgram } from './run-program.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const node = join(modules, '.bin', 'node');

const survey = ['dist/cli/main.js', 'run', 'survey', '--backend', 'command'];
const TASKS = {
  demo: { build: true, argv: [...survey, '--command', 'node fixtures/agents/file-facts.mjs', '--arg', 'folder=src'] },
  // Builds by itself, so that a build that fails is counted with the other checks.
  verify: { build: false, argv: ['scripts/verify.mjs'] },
};

const [name, ...rest] = process.argv.slice(2);
const task = Object.hasOwn(TASKS, name ?? '') ? TASKS[name] : undefined;
if (!task) {
  console.error(`Usage: node scripts/ensure-setup.mjs ${Object.keys(TASKS).join('|')} [arguments]`);
  process.exit(2);
}

const reason = whyInstall();
if (reason) {
  console.error(`set-up: ${reason}; running \`npm run setup\` …`);
  if ((await run('npm', ['run', 'setup'])) !== 0)
    stop('the installation failed (see above). Is the npm registry reachable?');
  const left = whyInstall();
  if (left) stop(`after the installation ${left}.`);
}
if (task.build && (await run(node, ['scripts/build.mjs', '--if-stale'])) !== 0) stop('the build failed (see above).');
process.exitCode = await run(node, [...task.argv, ...rest]);

/** Why node_modules cannot be used as it is, or `undefined`. */
function whyInstall() {
  const reason = reasonToInstall(root);
  if (reason) return reason;
  if (!existsSync(node)) return 'there is no Node 24 in node_modules';
  // A plain `npm ci` under Node 20 leaves both out.
  if (!['ivm6', 'ivm7'].some((alias) => existsSync(join(modules, alias)))) return 'isolated-vm is not installed';
  return undefined;
}

/** Runs a program in the project's root with Node 24 first on the PATH; gives its exit code. */
function run(file, args) {
  const env = { ...process.env, PATH: `${join(modules, '.bin')}${delimiter}${process.env.PATH ?? ''}` };
  return runProgram(file, args, { cwd: root, env });
}

function stop(message) {
  console.error(`set-up: ${message}`);
  if (name === 'verify') console.log('0 passed, 1 failed');
  process.exit(1);
}
