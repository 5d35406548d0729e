/** The options of `agent()`: those of the dialect, then our own. One list for the isolate, the checks and the words of errors. */
export const AGENT_OPTIONS = [
  'label',
  'phase',
  'schema',
  'model',
  'effort',
  'isolation',
  'agentType',
  'stallMs',
  'disallowedTools',
  'bashCommandClamp',
  'timeoutMs',
  'retries',
  'cwd',
  'tools',
  'cache',
  'salt',
  'deps',
  'backend',
] as const;

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

export const PERMISSIONS = ['read', 'edit', 'full'] as const;
