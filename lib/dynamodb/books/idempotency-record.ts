import { createHash } from 'node:crypto';
import { type BookFields, bookFields } from '../../books/book.ts';
import { IdempotencyKeyUsedError } from '../../books/errors.ts';
import { recordKey } from '../table/keys.ts';
import { type Item, parseInteger, parseText } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';
import { maxWriteDelaySeconds } from '../table/write-delay.ts';

/** Specification 11.3. */
const repeatableSeconds = 7 * 24 * 60 * 60;

/** The last repetition may arrive late, too. */
const lifetimeSeconds = repeatableSeconds + maxWriteDelaySeconds;

/** The record that ties all creates with an idempotency key to one book. It is in a partition that no list reads. */
export class IdempotencyRecord {
  readonly #key: string;
  readonly #fingerprint: string;
  readonly #now = Math.floor(Date.now() / 1000);

  constructor(key: string, fields: BookFields) {
    this.#key = key;
    this.#fingerprint = makeFingerprint(key, fields);
  }

  /**
   * Finds the record that is stored, unless it has expired.
   *
   * @param returned - the item that refused a put of the record
   * @throws {IdempotencyKeyUsedError} when it is for other fields
   */
  async find(table: Table, returned?: Item) {
    const stored = await table.get(recordKey(this.#key), parseRecord, returned);
    if (stored === undefined || stored.expiresAt <= this.#now) return undefined;
    if (stored.fingerprint !== this.#fingerprint) throw new IdempotencyKeyUsedError();
    return stored;
  }

  /** Makes the input that puts the record, unless {@link find} would find one. */
  makePut(bookId: number, version: string) {
    const record = { fingerprint: this.#fingerprint, bookId, version };
    return {
      Item: { ...recordKey(this.#key), ...record, expiresAt: this.#now + lifetimeSeconds },
      ConditionExpression: 'NOT expiresAt > :now',
      ExpressionAttributeValues: { ':now': this.#now },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
  }
}

/** Leaves out defaults and sorts the names, so that a fingerprint stays the same when the table gets a field. */
function makeFingerprint(key: string, fields: BookFields): string {
  const names = (Object.keys(bookFields) as (keyof BookFields)[]).sort();
  const given = names.filter((name) => JSON.stringify(fields[name]) !== JSON.stringify(bookFields[name].default));
  const values = given.map((name) => [name, fields[name]]);
  return createHash('sha256')
    .update(JSON.stringify([key, ...values]))
    .digest('base64url');
}

function parseRecord({ fingerprint, bookId, version, expiresAt }: Item) {
  return {
    fingerprint: parseText(fingerprint, 'an idempotency record has no fingerprint'),
    bookId: parseInteger(bookId, 'an idempotency record has no book'),
    version: parseText(version, 'an idempotency record has no version'),
    expiresAt: parseInteger(expiresAt, 'an idempotency record has no expiry'),
  };
}
