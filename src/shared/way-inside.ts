import { isAbsolute, relative, sep } from 'node:path';

/**
 * The way from a folder to what lies in it, with forward slashes; `''` for the folder itself, `undefined` for what lies
 * outside. A name may begin with two dots. Links are taken as they are written.
 */
export function wayInside(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? undefined : way.split(sep).join('/');
}
