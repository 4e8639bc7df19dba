/** The service cannot start. The message says in one paragraph what is wrong and what to do about it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
