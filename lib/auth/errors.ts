import { namedError } from '../named-error.ts';

/** The token is not valid. */
export class InvalidTokenError extends namedError('InvalidTokenError') {
  /** The code of jose's error, for the log. */
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** The token could not be signed. The cause says why. */
export class TokenNotSignedError extends namedError('TokenNotSignedError') {}
