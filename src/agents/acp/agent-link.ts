/** The wire to one started agent: requests to it, its updates and questions, and what to say when it breaks. */
import { setTimeout as sleep } from 'node:timers/promises';
import { VERSION } from '../../shared/version.js';
import { BackendError } from '../backend.js';
import type { AgentProcess } from './agent-process.js';
import { classifyError, type ProtocolError } from './classify-error.js';
import { openMessageStream } from './message-stream.js';
import { asObject } from './read-usage.js';
import { readReportedFailure, type ReportedFailure } from './reported-failure.js';

type Json = Readonly<Record<string, unknown>>;

export interface LinkHooks {
  /** Gets the params of each `session/update`. */
  onUpdate(params: Json): void;
  /** Chooses an option of a `session/request_permission`; `undefined` cancels. */
  onPermission(params: Json): string | undefined;
}

export interface AgentLink {
  /** How a person signs in to this agent; told with errors of that kind. */
  signIn: string;
  /** @throws BackendError */
  request(method: string, params: object): Promise<Json>;
  notify(method: string, params: object): void;
  /** What it wrote on stdout before its first message, if that was no message. */
  readonly noise: string | undefined;
  close(): void;
}

/** How long a broken agent may take to end, so that its end can be told. */
const END_MS = 1_000;
/** What an agent wrote before its end may still be on its way. */
const DRAIN_MS = 200;

/** @param name of the agent, for messages */
export async function linkAgent(name: string, process: AgentProcess, hooks: LinkHooks): Promise<AgentLink> {
  const { client } = await import('@agentclientprotocol/sdk');
  let reported: ReportedFailure | undefined;
  const messages = openMessageStream(process.stdout, process.stdin, (params) => {
    reported = readReportedFailure(asObject(params.update) ?? {}) ?? reported;
    hooks.onUpdate(params);
  });
  const connection = client({ name: `wf ${VERSION}` })
    .onRequest(
      'session/request_permission',
      (params: unknown) => asObject(params) ?? {},
      ({ params }) => {
        const optionId = hooks.onPermission(params);
        return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
      },
    )
    .connect(messages.stream);
  void process.exited.then(() => sleep(DRAIN_MS, undefined, { ref: false })).then(() => messages.close());

  const link: AgentLink = {
    signIn: `Sign in to ${name} in a terminal, then go on with the run.`,
    async request(method, params) {
      reported = undefined;
      try {
        return asObject(await connection.agent.request<unknown>(method, params)) ?? {};
      } catch (error) {
        const { code } = error as ProtocolError;
        if (typeof code === 'number') throw classifyError(name, error as ProtocolError, link.signIn, reported);
        throw await describeEnd(name, process, messages.fault, method);
      }
    },
    notify: (method, params) => void connection.agent.notify(method, params).catch(() => {}),
    get noise() {
      return messages.noise;
    },
    close: () => connection.close(),
  };
  return link;
}

async function describeEnd(
  name: string,
  process: AgentProcess,
  fault: string | undefined,
  method: string,
): Promise<BackendError> {
  if (fault === undefined) await Promise.race([process.exited, sleep(END_MS, undefined, { ref: false })]);
  const { exit } = process;
  const how =
    fault !== undefined
      ? `broke the protocol: ${fault}`
      : exit === undefined
        ? 'closed its output'
        : exit.signal !== null
          ? `was ended by ${exit.signal}`
          : `ended with exit code ${exit.code}`;
  const words = process.lastWords === '' ? '' : `; its last words: ${process.lastWords}`;
  return new BackendError('protocol', `${name} ${how} before it answered ${method}${words}.`);
}
