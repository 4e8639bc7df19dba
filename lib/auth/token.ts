import { type CryptoKey, errors, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose';
import { HttpError } from '../http/http-error.ts';
import { outcomes } from '../http/outcomes.ts';
import { writeLog } from '../log/write-log.ts';

/** Specification 5.5. */
const lifetimeSeconds = 15 * 60;

/** A key shorter than the output of the hash makes HS256 weaker than it need be (RFC 7518 section 3.2). */
const recommendedSecretBytes = 32;

/** The HMAC methods of RFC 7518 section 3.2, each with the name of its hash in Web Crypto. */
const hashes: Readonly<Record<string, string>> = { HS256: 'SHA-256', HS384: 'SHA-384', HS512: 'SHA-512' };

/** Tokens that an instance knows to be valid until they expire, so that it does not check their signature in each call. */
const maxVerifiedTokens = 100;

/** RFC 7515 section 3.1. jose itself passes over padding and whitespace in the payload and the signature. */
const compactToken = /^[\w-]+\.[\w-]*\.[\w-]+$/;

/**
 * Makes the function that issues tokens: JWTs signed with HS256 whose one claim is `exp`, 15 minutes ahead
 * (specification 4.5 to 4.7). A secret of fewer than 32 bytes is logged as a warning.
 *
 * @param secret - SECRET_TOKEN, used as UTF-8 bytes
 * @returns a function that signs a new token; it throws an {@link HttpError} (500 `Could not generate token`) with
 *   the cause when that fails
 */
export function createTokenSigner(secret: string): () => Promise<string> {
  if (Buffer.byteLength(secret) < recommendedSecretBytes) {
    writeLog('WARN', `SECRET_TOKEN has fewer than ${recommendedSecretBytes} bytes and may be guessed`);
  }
  const keyFor = createKeyCache(secret);
  return async () => {
    try {
      const expiry = Math.floor(Date.now() / 1000) + lifetimeSeconds;
      const header = { alg: 'HS256', typ: 'JWT' };
      return await new SignJWT({ exp: expiry }).setProtectedHeader(header).sign(await keyFor(header));
    } catch (cause) {
      throw new HttpError(outcomes.tokenNotGenerated, { cause });
    }
  };
}

/**
 * Makes the function that checks tokens: signed with an HMAC method and the secret, not expired, not for later
 * (`nbf`). A token without `exp` has no expiry that could have passed.
 *
 * @param secret - SECRET_TOKEN, used as UTF-8 bytes
 * @returns a function that resolves for a valid token; it throws an {@link HttpError} (401 `Invalid token`) for any
 *   other, and passes on errors that are not the token's fault
 */
export function createTokenVerifier(secret: string): (token: string) => Promise<void> {
  const keyFor = createKeyCache(secret);
  const verifiedUntil = new Map<string, number>();
  return async (token) => {
    if ((verifiedUntil.get(token) ?? 0) > Date.now() / 1000) return;
    try {
      if (!compactToken.test(token)) throw new errors.JWSInvalid('not three parts in base64url');
      const { payload } = await jwtVerify(token, keyFor, { algorithms: Object.keys(hashes) });
      if (verifiedUntil.size === maxVerifiedTokens) verifiedUntil.clear();
      verifiedUntil.set(token, payload.exp ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      throw error instanceof errors.JOSEError
        ? new HttpError(outcomes.invalidToken, { cause: error })
        : error;
    }
  };
}

/** Imports the secret once per algorithm, since an HMAC CryptoKey is bound to one hash and importing costs time. */
function createKeyCache(secret: string): (header: JWTHeaderParameters) => Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  const keys = new Map<string, Promise<CryptoKey>>();
  return ({ alg }) => {
    const key =
      keys.get(alg) ??
      crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: hashes[alg] ?? '' }, false, [
        'sign',
        'verify',
      ]);
    keys.set(alg, key);
    return key;
  };
}
