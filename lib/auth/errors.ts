/** The token is not valid; the cause says why. */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError';
}

/** The token could not be signed; the cause says why. */
export class TokenNotSignedError extends Error {
  override readonly name = 'TokenNotSignedError';
}
