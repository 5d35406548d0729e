/**
 * Runs once in a fresh context, before any script code. What it exports goes to the host as references and cannot be
 * reached by the script. Order matters: primordials are taken first, then the context is hardened, then the dialect laid.
 */
import './primordials.js';
import './host.js';
import './stacks.js';
import './lazy.js';
import './hardening.js';
import './clock.js';
import './args.js';
import './agent.js';
import './log.js';
import './groups.js';
import './timers.js';
import './budget.js';
import './workflow.js';

export { addTokens, deliver } from './calls.js';
export { run } from './result.js';
