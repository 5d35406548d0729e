/** Opens what must be a file. A pipe would hold its reader until somebody writes, and a device for ever. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** @throws what the file system says; `EISDIR` for a folder, an error without a code for what else is no file */
export function openRegularFile(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stat = fstatSync(fd);
  if (stat.isFile()) return fd;
  closeSync(fd);
  if (stat.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  throw new Error('it is a pipe or a device, and no file');
}

/** The text of a file, as UTF-8. Throws as `openRegularFile` does. */
export function readRegularFile(path: string): string {
  const fd = openRegularFile(path);
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}
