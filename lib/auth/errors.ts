import { namedError } from '../named-error.ts';

/** The token is not valid. The cause says why. */
export class InvalidTokenError extends namedError('InvalidTokenError') {}

/** The token could not be signed. The cause says why. */
export class TokenNotSignedError extends namedError('TokenNotSignedError') {}
