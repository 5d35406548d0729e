import { freemem } from 'node:os';

/** Bytes that the machine has free, or the container where that is less. */
export const freeMemory = (): number => Math.min(freemem(), process.availableMemory());
