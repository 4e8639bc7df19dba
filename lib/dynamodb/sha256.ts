import { createHash, createHmac, createSecretKey, type Hash, type Hmac } from 'node:crypto';

/** Text, which counts as UTF-8, or bytes. */
type Data = string | ArrayBuffer | ArrayBufferView;

/**
 * SHA-256, or HMAC-SHA-256 when there is a secret, for the SDK's signatures ("Create a signed AWS API request"). The
 * SDK's own hands secrets to `createHmac` as bytes, and Node throws and catches two errors to find out that these are
 * no key object, which takes three times as long as the HMAC itself.
 */
export class Sha256 {
  readonly #hash: Hash | Hmac;

  /** @param secret - the key of an HMAC */
  constructor(secret?: Data) {
    if (secret === undefined) this.#hash = createHash('sha256');
    else if (typeof secret === 'string') this.#hash = createHmac('sha256', secret);
    else this.#hash = createHmac('sha256', createSecretKey(secret as Uint8Array));
  }

  /** @param data - what is hashed, or the next part of it */
  update(data: Data): void {
    this.#hash.update(data as string | Uint8Array);
  }

  /** @returns the 32 bytes; nothing can be added after this */
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}
