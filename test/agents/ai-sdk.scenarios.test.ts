import { makeAiSdkAgent } from './support/ai-sdk-agent.js';
import { describeAgent } from './support/conformance.js';

describeAgent(makeAiSdkAgent('anthropic'));
describeAgent(makeAiSdkAgent('openai'));
describeAgent(makeAiSdkAgent('openai-compatible'));
