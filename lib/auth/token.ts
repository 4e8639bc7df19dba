import { type CryptoKey, errors, jwtVerify, SignJWT } from 'jose';
import { InvalidTokenError, TokenNotSignedError } from './errors.ts';

/** The HMAC methods of RFC 7518 section 3.2. */
const algorithms = ['HS256', 'HS384', 'HS512'];

/**
 * jose's errors about a token. The others are failures of the service, such as a remote key set that cannot be read:
 * clients would throw their good tokens away after a 401.
 */
const tokenErrors = [
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
  errors.JWTInvalid,
];

/** Verified tokens that an instance remembers. Without them, a warm GET /book/{id} takes 10 % more CPU time. */
const maxVerifiedTokens = 100;

/** Makes the function that issues tokens: JWTs signed with HS256, whose one claim is `exp` (specification 5.5). */
export function createTokenSigner(secret: string, lifetimeSeconds: number): () => Promise<string> {
  const bytes = new TextEncoder().encode(secret);
  let key: CryptoKey | undefined;
  return async () => {
    try {
      // jose would import the secret for each signature: POST /token would take 50 % more CPU time.
      // Stryker disable next-line BooleanLiteral: whether the key could be read again matters only to the code that holds it
      key ??= await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      const exp = Math.floor(Date.now() / 1000) + lifetimeSeconds;
      return await new SignJWT({ exp }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).sign(key);
    } catch (cause) {
      throw new TokenNotSignedError('the token could not be signed', { cause });
    }
  };
}

/**
 * Makes the function that verifies tokens: HMAC method, signature, and `exp` and `nbf` where a token has them. It
 * throws an {@link InvalidTokenError} for a token that is not valid. Any other error is a failure of the service.
 */
export function createTokenVerifier(secret: string): (token: string) => Promise<void> {
  const key = new TextEncoder().encode(secret);
  const verifiedUntil = new Map<string, number>();
  return async (token) => {
    if ((verifiedUntil.get(token) ?? 0) > Date.now() / 1000) return;
    try {
      if (!token.split('.').every(isCanonical)) throw new errors.JWSInvalid('a part is not canonical base64url');
      const { payload } = await jwtVerify(token, key, { algorithms });
      if (verifiedUntil.size === maxVerifiedTokens) verifiedUntil.clear();
      verifiedUntil.set(token, payload.exp ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      const kind = tokenErrors.find((each) => error instanceof each);
      if (kind === undefined) throw error;
      throw new InvalidTokenError(kind.code);
    }
  };
}

/**
 * Tells whether a part of a token is its one spelling (RFC 4648 section 3.5). jose alone accepts padding, whitespace, and
 * four last characters of the same signature.
 */
function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part;
}
