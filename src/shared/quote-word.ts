/** One word of a command that is copied into a shell as it is. */
export const quoteWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
