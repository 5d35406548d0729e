/**
 * The URL of a module beside the calling one, for a worker or a process that is to load it. It has the caller's own
 * extension, so that it is found in the sources as well as in the build.
 *
 * @example siblingModule(import.meta.url, './pattern-worker')
 */
export function siblingModule(caller: string, path: string): URL {
  return new URL(path + caller.slice(caller.lastIndexOf('.')), caller);
}
