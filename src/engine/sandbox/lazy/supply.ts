/** Hands globals to the prelude, which takes those that the script names and removes the hand-over before it runs. */
export function supply(globals: Record<string, unknown>): void {
  const scope = globalThis as unknown as { __lazy?: Record<string, unknown> };
  scope.__lazy ??= {};
  for (const [name, value] of Object.entries(globals)) {
    // Minifying takes the names of functions away.
    Object.defineProperty(value as object, 'name', { value: name, configurable: true });
    scope.__lazy[name] = value;
  }
}
