/** A failure that the user can fix; only its message is printed. */
export class CommandError extends Error {}

/** The command was called with the wrong arguments. */
export class UsageError extends CommandError {}

/** Problems of files, by error code. */
export const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'there is no',
  EACCES: 'this user must not read or write',
  EISDIR: 'not a file but a folder:',
  ENOSPC: 'no space is left for',
};
