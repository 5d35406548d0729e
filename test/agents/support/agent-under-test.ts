/** One row of the table: a backend, and how it is pointed at a fake model with nothing of the machine's own set-up. */
import type { TestContext } from 'vitest';
import type { AgentBackend } from '../../../src/agents/backend.js';
import type { TestProject } from '../../support/temp-project.js';
import type { FakeModel } from './fake-model.js';
import type { Scenario } from './scenario-names.js';

/** Where a call runs: its own folder, `HOME` and environment. */
export interface Place {
  project: TestProject;
  model: FakeModel;
}

export interface AgentUnderTest {
  name: string;
  /** Program or package that is really run, with its version, for the table. */
  runs: string;
  /** A model name that the agent takes. */
  model: string;
  /** Why it cannot be run here, for example a program that is not installed. */
  missing(): string | undefined;
  make(place: Place, scenario?: Scenario): AgentBackend | Promise<AgentBackend>;
  /** What `wf run` needs to use it in that place; may write files into the project. */
  cli(place: Place): { flags: string[]; env?: Record<string, string> };
  /** Scenarios that it cannot go through, each with the reason as the table shows it. */
  cannot?: Partial<Record<Scenario, string>>;
  /** A character that the agent's own client cannot read from its model. */
  unreadable?: string;
  /** Tool names that an agent definition may hold and that this agent knows. */
  definitionTools?: string[];
}

/** Without the agent a test is skipped with the reason; in CI it fails, as a missing agent would hide everything. */
export function needAgent(context: TestContext, agent: AgentUnderTest): void {
  const reason = agent.missing();
  if (reason === undefined) return;
  if (process.env.CI) throw new Error(`${reason}; CI must have it.`);
  context.skip(reason);
}
