import { createHash } from 'node:crypto';
import { type BookFields, bookFields } from '../books/book.ts';
import { claimKey } from './keys.ts';
import { type Item, parseInteger, parseText } from './stored-items.ts';
import type { Table } from './table.ts';

const lifetimeSeconds = 7 * 24 * 60 * 60;

/** The record that ties all creates with an idempotency key to one book. */
export interface Claim {
  /** Digest of the key and of the fields that it was first used with. */
  readonly fingerprint: string;
  readonly bookId: number;
  readonly writeToken: string;
}

/** A claim that is stored. Builds before 1.0.0 stored it before its book, so one that is not `done` may have no book. */
export type StoredClaim = Claim & { readonly done: boolean };

/**
 * Reads the claim of a key, in a partition that no list reads.
 *
 * @param now - Unix time in seconds; a claim that has expired by then counts as absent, as DynamoDB removes it some time later
 */
export async function findClaim(table: Table, key: string, now: number): Promise<StoredClaim | undefined> {
  const stored = await table.get(claimKey(key), parseClaim);
  return stored && stored.expiresAt > now ? stored : undefined;
}

/** Makes the input that puts a claim, on condition that {@link findClaim} finds none that is done. */
export function putClaim(key: string, claim: Claim, now: number) {
  return {
    Item: { ...claimKey(key), ...claim, done: true, expiresAt: now + lifetimeSeconds },
    ConditionExpression: 'attribute_not_exists(id) OR attribute_not_exists(done) OR expiresAt <= :now',
    ExpressionAttributeValues: { ':now': now },
  };
}

function parseClaim(item: Item): StoredClaim & { readonly expiresAt: number } {
  return {
    fingerprint: parseText(item.fingerprint, 'a claim has no fingerprint'),
    bookId: parseInteger(item.bookId, 'a claim has no book'),
    writeToken: parseText(item.writeToken, 'a claim has no write token'),
    done: item.done === true,
    expiresAt: parseInteger(item.expiresAt, 'a claim has no expiry'),
  };
}

/** The fields of the first claims. Added ones count from the first that has no default, so that claims outlive a new field. */
const firstFields = 3;

/** @returns the SHA-256 of a key and the fields of its book, in base64url */
export function fingerprintOf(key: string, fields: BookFields): string {
  const entries = Object.entries(bookFields).map(([name, field]) => [
    fields[name as keyof BookFields],
    field.default,
  ]);
  const last = entries.findLastIndex(
    ([value, byDefault], index) => index < firstFields || value !== byDefault,
  );
  const values = entries.slice(0, last + 1).map(([value]) => value);
  return createHash('sha256')
    .update(JSON.stringify([key, ...values]))
    .digest('base64url');
}
