/** The command was called in a way that it does not know. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot go on, for a reason that its user can do something about; the message is all there is to say. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
