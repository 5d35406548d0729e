import { codexAgent } from './support/codex-agent.js';
import { describeAgent } from './support/conformance.js';

describeAgent(codexAgent);
