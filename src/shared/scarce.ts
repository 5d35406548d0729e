/** Codes of system errors that tell of a system, or of limits of this process, without room for more. */
const SCARCE = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

export const isScarce = (code: string): boolean => SCARCE.has(code);
