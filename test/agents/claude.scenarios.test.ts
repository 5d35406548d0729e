import { claudeAgent } from './support/claude-agent.js';
import { describeAgent } from './support/conformance.js';

describeAgent(claudeAgent);
