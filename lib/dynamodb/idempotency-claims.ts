import { createHash } from 'node:crypto';
import { type BookFields, bookFields } from '../books/book.ts';
import { IdempotencyKeyUsedError } from '../books/errors.ts';
import { claimKey } from './keys.ts';
import { type Item, parseInteger, parseText } from './stored-items.ts';
import type { Table } from './table.ts';

const lifetimeSeconds = 7 * 24 * 60 * 60;

/** The fields of the first claims. Added ones count from the first that has no default, so that claims outlive a new field. */
const firstFields = 3;

/** The record that ties all creates with an idempotency key to one book. It is in a partition that no list reads. */
export class IdempotencyClaim {
  readonly #key: string;
  readonly #fingerprint: string;
  readonly #now = Math.floor(Date.now() / 1000);

  constructor(key: string, fields: BookFields) {
    const names = Object.keys(bookFields) as (keyof BookFields)[];
    const isDefault = (name: keyof BookFields) => fields[name] === bookFields[name].default;
    const last = names.findLastIndex((name, index) => index < firstFields || !isDefault(name));
    const values = names.slice(0, last + 1).map((name) => fields[name]);
    this.#key = key;
    this.#fingerprint = createHash('sha256')
      .update(JSON.stringify([key, ...values]))
      .digest('base64url');
  }

  /** @returns what is stored, `item` if a refused put found it, unless it has expired @throws {IdempotencyKeyUsedError} */
  async find(table: Table, item?: Item) {
    const stored = await table.get(claimKey(this.#key), parseClaim, item);
    if (stored === undefined || stored.expiresAt <= this.#now) return undefined;
    if (stored.fingerprint !== this.#fingerprint) throw new IdempotencyKeyUsedError();
    return stored;
  }

  /** Makes the input that puts the claim, unless {@link find} would find one that is done, or has another book. */
  put(bookId: number, writeToken: string) {
    const claim = { fingerprint: this.#fingerprint, bookId, writeToken, done: true };
    return {
      Item: { ...claimKey(this.#key), ...claim, expiresAt: this.#now + lifetimeSeconds },
      ConditionExpression: 'NOT expiresAt > :now OR bookId = :bookId AND attribute_not_exists(done)',
      ExpressionAttributeValues: { ':now': this.#now, ':bookId': bookId },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
  }
}

function parseClaim({ fingerprint, bookId, writeToken, done, expiresAt }: Item) {
  return {
    fingerprint: parseText(fingerprint, 'a claim has no fingerprint'),
    bookId: parseInteger(bookId, 'a claim has no book'),
    writeToken: parseText(writeToken, 'a claim has no write token'),
    /** Builds before 1.0.0 stored a claim before its book: without this, it may have none. */
    done: done === true,
    expiresAt: parseInteger(expiresAt, 'a claim has no expiry'),
  };
}
