/**
 * The shape of a line as `entry.ts` defines it, checked by hand: a replay reads ten thousand lines before its first
 * answer, and loading and running the schemas would cost more than all the rest of reading them.
 */
type Fields = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const isNumber: Check = (value) => typeof value === 'number';
const isWhole: Check = (value) => Number.isSafeInteger(value);
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isTextOrNull: Check = (value) => value === null || typeof value === 'string';
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isKey: Check = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
const isKind: Check = (value) => value === 'ok' || value === 'failed' || value === 'skipped';
const isUsdSource: Check = (value) => value === 'reported' || value === 'priced' || value === 'unknown';
const isUsage: Check = (value) =>
  isObject(value) &&
  isNumber(value.inputTokens) &&
  isNumber(value.outputTokens) &&
  (value.cacheReadTokens === undefined || isNumber(value.cacheReadTokens)) &&
  (value.usd == null || isNumber(value.usd)) &&
  (value.usdSource === undefined || isUsdSource(value.usdSource)) &&
  (value.usdPartial === undefined || value.usdPartial === true);
const isWorktree: Check = (value) =>
  isObject(value) &&
  [value.path, value.branch, value.base].every(isText) &&
  Array.isArray(value.files) &&
  value.files.every(isText) &&
  [value.fileCount, value.commits].every(isNumber) &&
  (value.doubt === undefined || isText(value.doubt));
const isWorktrees: Check = (value) => Array.isArray(value) && value.every(isWorktree);
const isError: Check = (value) => isObject(value) && isText(value.code) && isText(value.message);

const NEEDED: Record<string, [string, Check][]> = {
  result: [
    ['n', isWhole],
    ['key', isKey],
    ['path', isText],
    ['nth', isWhole],
    ['kind', isKind],
  ],
  hit: [
    ['n', isWhole],
    ['key', isKey],
    ['path', isText],
    ['nth', isWhole],
    ['of', isWhole],
  ],
  timer: [
    ['n', isWhole],
    ['ms', isNumber],
  ],
  script: [
    ['name', isText],
    ['path', isTextOrNull],
    ['sha256', isText],
    ['source', isText],
  ],
};

const MAY_BE: Record<string, Check> = {
  seq: isNumber,
  from: isText,
  kept: isWhole,
  passed: (value) => value === true,
  size: isWhole,
  label: isText,
  phase: isTextOrNull,
  prompt: isText,
  opts: isObject,
  usage: isUsage,
  worktrees: isWorktrees,
  lastTry: isFlag,
  model: isText,
  backend: isText,
  madeUp: isFlag,
  sessionId: isText,
  attempts: isWhole,
  startedAt: isText,
  endedAt: isText,
  error: isError,
};

/** The line without those members that are of a wrong type; only members that need not be there are looked at. */
export function dropMisshapen(fields: Fields): Fields {
  const isSound = (name: string): boolean => {
    const check = Object.hasOwn(MAY_BE, name) ? MAY_BE[name] : undefined;
    return check === undefined || fields[name] === undefined || check(fields[name]);
  };
  const names = Object.keys(fields);
  return names.every(isSound) ? fields : Object.fromEntries(names.filter(isSound).map((name) => [name, fields[name]]));
}

export function hasEntryShape(type: 'result' | 'hit' | 'timer' | 'script', fields: Fields): boolean {
  const needed = NEEDED[type] as [string, Check][];
  for (const [name, check] of needed) if (!check(fields[name])) return false;
  for (const name in fields) {
    const check = Object.hasOwn(MAY_BE, name) ? MAY_BE[name] : undefined;
    if (check !== undefined && fields[name] !== undefined && !check(fields[name])) return false;
  }
  // A timer's path is a text as well, but none is needed.
  return type !== 'timer' || fields.path === undefined || isText(fields.path);
}
