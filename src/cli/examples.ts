/** Examples at the end of a help text. */
export const examples = (lines: string[]): string => `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
