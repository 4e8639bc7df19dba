/** The command cannot go on, for a reason that its user can do something about; the message is all there is to say. */
export class CommandError extends Error {}

/** The command was called with the wrong arguments. */
export class UsageError extends CommandError {}

/** What may be wrong with a file, by the code of the error. */
export const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'there is no',
  EACCES: 'this user must not read or write',
  EISDIR: 'not a file but a folder:',
  ENOSPC: 'no space is left for',
};
