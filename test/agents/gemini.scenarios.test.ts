import { describeAgent } from './support/conformance.js';
import { geminiAgent } from './support/gemini-agent.js';

describeAgent(geminiAgent);
