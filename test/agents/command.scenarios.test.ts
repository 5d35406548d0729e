import { commandAgent } from './support/command-agent.js';
import { describeAgent } from './support/conformance.js';

describeAgent(commandAgent);
