// biome-ignore-all lint/suspicious/noExplicitAny: values that only the run knows; `unknown` would make plain scripts unreadable
/**
 * What a workflow script finds around it. At the top of a script:
 *
 * ```js
 * // @ts-check
 * /// <reference types="wf-engine/workflow" />
 * ```
 *
 * A script returns at its top level, which no type checker knows: write `// @ts-expect-error` above that line.
 */

/** How `agent()` is to do its work. Everything is optional. */
export interface AgentOptions<Schema extends JsonSchema = JsonSchema> {
  /** Name that is shown; default: the first 60 characters of the prompt. */
  label?: string | number | null;
  /** Group of this call alone; default: the title given to `phase()` last. */
  phase?: string | number | null;
  /** The answer is data that fits this JSON Schema, checked and parsed. Written in place, or `as const`, it gives the answer its type. */
  schema?: Schema | null;
  /** Model of this call, as the backend names it; `'inherit'` is the run's. */
  model?: string | null;
  effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null;
  /**
   * A git worktree of its own, from the commit that is checked out. It is kept, with its branch, when the call leaves changes
   * in it. A call is never run without the isolation that it asks for: where none can be made it throws.
   */
  isolation?: 'worktree' | null;
  /** A definition of `.claude/agents`, by name, or one built into the backend. An unknown name throws before anything is spent. */
  agentType?: string | null;
  /** Milliseconds without any sign of life after which the agent is ended and tried once more; 0: no limit. */
  stallMs?: number | null;
  disallowedTools?: readonly string[] | null;
  bashCommandClamp?: readonly string[] | null;

  /** Milliseconds for the call with all its attempts; then it is `null`. Extension of wf. */
  timeoutMs?: number | null;
  /** Tries after the first, for errors that are worth it. Extension of wf. */
  retries?: number | null;
  /** Folder in which the agent works, relative to the start folder, inside the project. Extension of wf. */
  cwd?: string | null;
  /** The only tools that the agent may use. Extension of wf. */
  tools?: readonly string[] | null;
  /** `false`: never answered from an earlier run. Extension of wf. */
  cache?: boolean | null;
  /** Any value that joins the question when answers of earlier runs are looked up. Extension of wf. */
  salt?: unknown;
  /** Files on which the answer depends and which this workflow does not write: `['src/**']`. When one differs, the call runs again. Extension of wf. */
  deps?: readonly string[] | null;
  /** Another backend for this call. Extension of wf. */
  backend?: string | null;
}

/** A JSON Schema, draft-07 or 2020-12. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: JsonSchema | boolean };
  readonly required?: readonly string[];
  readonly items?: JsonSchema | boolean;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly (JsonSchema | boolean)[];
  readonly oneOf?: readonly (JsonSchema | boolean)[];
  readonly [keyword: string]: unknown;
}

/** The type of the values that fit a schema, as far as plain keywords tell it; `any` where they do not. */
export type FromSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
      ? FromSchema<Branch>
      : Schema extends { readonly type: infer Type }
        ? string extends Type
          ? any
          : FromType<Type extends readonly (infer One)[] ? One : Type, Schema>
        : any;

type FromType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? Schema extends { readonly items: infer Item }
            ? FromSchema<Item>[]
            : any[]
          : Type extends 'object'
            ? FromProperties<Schema>
            : any;

type FromProperties<Schema> = Schema extends { readonly properties: infer Properties }
  ? {
      -readonly [Name in keyof Properties as Name extends RequiredOf<Schema> ? Name : never]: FromSchema<
        Properties[Name]
      >;
    } & {
      -readonly [Name in keyof Properties as Name extends RequiredOf<Schema> ? never : Name]?: FromSchema<
        Properties[Name]
      >;
    }
  : { [name: string]: any };

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** Why a call has no answer. `code` is stable; docs/errors.md lists all of them. */
export interface CallCause {
  name: string;
  code: string;
  message: string;
}

/** An error that the engine made: of `agent()`, `workflow()`, `parallel()`, `pipeline()` or `setTimeout()`. */
export interface EngineError extends Error {
  code: string;
  /** Where in a child workflow it was thrown. */
  line?: number;
  column?: number;
}

export type Settled<Value> =
  | {
      ok: true;
      value: Value;
      /** The answer fitted its schema only at the last try: it may be a dummy, made to fit. */
      lastTry?: true;
    }
  | { ok: false; cause: CallCause };

type Stage<Before, Item, After> = (previous: Before, item: Item, index: number) => After;
type Slots<Value> = Promise<(Awaited<Value> | null)[]>;

declare global {
  /**
   * Asks an agent. Without a schema the answer is its last text, as it is.
   *
   * `null` when there is no answer: the agent failed, refused, or took too long. Throws when the call itself is wrong, when
   * no answer fitted the schema (`StructuredOutputError`), when the agent gave no sign of life (`StallError`), and when the
   * agent cap or the budget is reached.
   *
   * @example const found = await agent('List the exported functions of src/a.ts.', { label: 'a.ts' })
   */
  function agent<const Schema extends JsonSchema>(
    prompt: string,
    options: AgentOptions<Schema> & { schema: Schema },
  ): Promise<FromSchema<Schema> | null>;
  function agent(prompt: string, options?: (AgentOptions & { schema?: null }) | null): Promise<string | null>;
  function agent(prompt: string, options: AgentOptions): Promise<any>;

  namespace agent {
    /** The same call, but tells why there is no answer instead of giving `null` or throwing. Extension of wf. */
    function settled<const Schema extends JsonSchema>(
      prompt: string,
      options: AgentOptions<Schema> & { schema: Schema },
    ): Promise<Settled<FromSchema<Schema>>>;
    function settled(prompt: string, options?: (AgentOptions & { schema?: null }) | null): Promise<Settled<string>>;
    function settled(prompt: string, options: AgentOptions): Promise<Settled<any>>;
  }

  /**
   * Starts all functions and waits for all of them. Results stand in the order of the functions; whatever one throws
   * becomes `null` in its place and a line in the log. At most 4096.
   *
   * @example const [a, b] = await parallel([() => agent('one'), () => agent('two')])
   */
  function parallel<const Thunks extends readonly (() => unknown)[]>(
    thunks: Thunks,
  ): Promise<{ -readonly [Slot in keyof Thunks]: Awaited<ReturnType<Thunks[Slot]>> | null }>;

  /**
   * Sends each item through all stages, without waiting for other items in between. A stage gets what the stage before
   * gave, the item, and its index. What a stage throws makes the item `null`; `null` that a stage returns goes on.
   *
   * @example const checked = await pipeline(files, (file) => agent('Summarise ' + file), (text, file) => text && agent('Check: ' + text))
   */
  function pipeline<Item>(items: readonly Item[]): Promise<Item[]>;
  function pipeline<Item, A>(items: readonly Item[], a: Stage<Item, Item, A>): Slots<A>;
  function pipeline<Item, A, B>(
    items: readonly Item[],
    a: Stage<Item, Item, A>,
    b: Stage<Awaited<A>, Item, B>,
  ): Slots<B>;
  function pipeline<Item, A, B, C>(
    items: readonly Item[],
    a: Stage<Item, Item, A>,
    b: Stage<Awaited<A>, Item, B>,
    c: Stage<Awaited<B>, Item, C>,
  ): Slots<C>;
  function pipeline<Item, A, B, C, D>(
    items: readonly Item[],
    a: Stage<Item, Item, A>,
    b: Stage<Awaited<A>, Item, B>,
    c: Stage<Awaited<B>, Item, C>,
    d: Stage<Awaited<C>, Item, D>,
  ): Slots<D>;
  function pipeline<Item>(items: readonly Item[], ...stages: Stage<any, Item, any>[]): Promise<any[]>;

  /** Later calls stand in this group. Has no effect inside a child workflow. */
  function phase(title: string): void;

  /** One line in the log of the run. */
  function log(message: unknown): void;

  /**
   * Runs a saved workflow, or a script by its path (relative to this script, then to the start folder), and gives what it
   * returns. One level: a child cannot call it.
   */
  function workflow<Result = any>(reference: string | { scriptPath: string }, args?: unknown): Promise<Result>;

  /** Output tokens of the run. `total` is `null` and `remaining()` Infinity unless `--budget` was given. */
  const budget: { readonly total: number | null; spent(): number; remaining(): number };

  /** The args of the run: any JSON value; `undefined` when none were given. */
  var args: any;

  interface Console {
    log(...data: any[]): void;
    info(...data: any[]): void;
    debug(...data: any[]): void;
    warn(...data: any[]): void;
    error(...data: any[]): void;
    trace(...data: any[]): void;
    assert(holds?: any, ...data: any[]): void;
    dir(...data: any[]): void;
    table(...data: any[]): void;
    group(...data: any[]): void;
    groupCollapsed(...data: any[]): void;
    groupEnd(): void;
    /** Does nothing: a workflow has no clock. */
    time(label?: string): void;
    timeLog(label?: string, ...data: any[]): void;
    timeEnd(label?: string): void;
  }
  /** All of it goes to the log of the run. */
  var console: Console;

  /** Calls a function later. What is left when the script returns is dropped. */
  function setTimeout<Given extends any[]>(callback: (...given: Given) => void, ms?: number, ...given: Given): number;
  function clearTimeout(id: number | undefined): void;
}
