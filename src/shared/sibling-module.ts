/**
 * The URL of a module of this package, for a worker or a process that is to load it: beside the sources when they run
 * as they are, beside the build when that runs (whose files may lie in a folder of chunks).
 *
 * @param path from the source folder, without an extension
 * @example siblingModule(import.meta.url, 'agents/pattern-worker')
 */
export function siblingModule(caller: string, path: string): URL {
  const inSources = caller.lastIndexOf('/src/') > caller.lastIndexOf('/dist/');
  const folder = inSources ? '/src/' : '/dist/';
  const root = caller.slice(0, caller.lastIndexOf(folder) + folder.length);
  return new URL(path + (inSources ? '.ts' : '.js'), root);
}
