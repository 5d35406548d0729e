/**
 * Whether there is room for the pipes of one more program. Node leaves pipes open of a program that could not be started
 * for lack of descriptors: each such attempt would take three more, until nothing can be started any more.
 */
import { closeSync, openSync } from 'node:fs';
import { isScarce } from '../shared/scarce.js';
import { systemCode } from '../shared/errors.js';

/** Three pipes, one that tells of a failed start, and some for whatever else happens at that moment. */
const NEEDED = 12;

/** @returns the code of the system's error where there is no room */
export function findScarcity(): string | undefined {
  const taken: number[] = [];
  try {
    while (taken.length < NEEDED) taken.push(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    const code = systemCode(error) ?? '';
    return isScarce(code) ? code : undefined;
  } finally {
    for (const fd of taken) closeSync(fd);
  }
}
