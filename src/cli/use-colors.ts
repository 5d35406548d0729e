/** Whether a stream is to be painted: `NO_COLOR` and `FORCE_COLOR` decide, else whether a person looks at it. */
export function useColors(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0';
  return stream.isTTY === true;
}
