/** The command that goes on from a run, to be copied into a shell as it is. */
export const resumeCommandOf = (runId: string, runsDir?: string, script?: string): string =>
  `wf run ${script === undefined ? '' : `${quoteWord(script)} `}--resume-from ${runId}${
    // It must find the run where it lies.
    runsDir === undefined ? '' : ` --runs-dir ${quoteWord(runsDir)}`
  }`;

const quoteWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
