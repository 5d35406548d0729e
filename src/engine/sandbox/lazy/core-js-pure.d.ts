/** The parts of `core-js-pure` that are bundled; it has no types of its own. */
declare module 'core-js-pure/actual/url/index.js' {
  const url: unknown;
  export = url;
}
declare module 'core-js-pure/actual/url-search-params/index.js' {
  const urlSearchParams: unknown;
  export = urlSearchParams;
}
declare module 'core-js-pure/actual/structured-clone.js' {
  const structuredClone: unknown;
  export = structuredClone;
}
declare module 'core-js-pure/actual/atob.js' {
  const atob: unknown;
  export = atob;
}
declare module 'core-js-pure/actual/btoa.js' {
  const btoa: unknown;
  export = btoa;
}
