/** What a backend that starts a program is made with, besides what its agent needs. */
export interface ProgramOptions {
  /** Folder that relative paths start from (default: the present one). */
  folder?: string | undefined;
  /** Where the allowed variables are taken from (default `process.env`). */
  env?: NodeJS.ProcessEnv | undefined;
  /** Names of further variables that the program may see. */
  allowEnv?: readonly string[] | undefined;
}
