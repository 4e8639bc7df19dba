/** The service cannot start. The message says what is wrong and what to do about it, in one paragraph. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
  }
}
