/** Which bundle holds a global that is set up only for scripts that name it. */
const BUNDLES: Record<string, string> = {
  URL: 'url',
  URLSearchParams: 'url',
  structuredClone: 'structured-clone',
  TextEncoder: 'text',
  TextDecoder: 'text',
  atob: 'base64',
  btoa: 'base64',
  AbortController: 'abort',
  AbortSignal: 'abort',
};

/** File names, without folder and ending. */
export const bundlesFor = (names: readonly string[]): string[] => [
  ...new Set(names.flatMap((name) => BUNDLES[name] ?? [])),
];
