/** A failure that the user can fix; only its message is printed. */
export class CommandError extends Error {}

/** The command was called with the wrong arguments. */
export class UsageError extends CommandError {}
