import { createHash } from 'node:crypto';
import { StorageUnavailableError } from '../books/errors.ts';
import { ConditionFailedError } from './errors.ts';
import { claimKey } from './keys.ts';
import { type Item, isInteger, isText } from './stored-items.ts';
import type { Table } from './table.ts';

const lifetimeSeconds = 7 * 24 * 60 * 60;

/** What an idempotency key stands for: the item that makes all creates with the key one. */
export interface Claim {
  /** Digest of the key and of the fields that it was first used with. */
  readonly fingerprint: string;
  readonly bookId: number;
  readonly writeToken: string;
  /** Whether the book has been stored, so that it is not stored again after it has been deleted. */
  readonly done?: boolean;
}

/** The claims, in partitions that no list reads. DynamoDB's time to live removes expired ones, which count as absent. */
export class IdempotencyClaims {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** @returns the claim of a key, or `undefined` when it has none */
  async find(key: string): Promise<Claim | undefined> {
    const stored = await this.#table.get(claimKey(key), parseClaim);
    return stored && stored.expiresAt > nowInSeconds() ? stored : undefined;
  }

  /** @returns the claim that the key has now: this one, or that of a concurrent request */
  async add(key: string, claim: Claim): Promise<Claim> {
    const now = nowInSeconds();
    try {
      await this.#table.put({
        Item: { ...claimKey(key), ...claim, expiresAt: now + lifetimeSeconds },
        ConditionExpression: 'attribute_not_exists(id) OR expiresAt <= :now',
        ExpressionAttributeValues: { ':now': now },
      });
      return claim;
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      const existing = await this.find(key);
      if (existing) return existing;
      throw new StorageUnavailableError('a claim expired meanwhile');
    }
  }

  /** Records that the book of a claim has been stored. */
  markDone(key: string, claim: Claim): Promise<void> {
    return this.#change(key, claim, 'SET done = :value', true);
  }

  /** Frees a key whose book was not stored and never will be. Time to live ignores what expired 5 years ago. */
  release(key: string, claim: Claim): Promise<void> {
    return this.#change(key, claim, 'SET expiresAt = :value', nowInSeconds());
  }

  async #change(key: string, { writeToken }: Claim, expression: string, value: unknown): Promise<void> {
    const input = {
      Key: claimKey(key),
      ConditionExpression: 'writeToken = :writeToken', // An update would create the item of a claim that is gone.
      UpdateExpression: expression,
      ExpressionAttributeValues: { ':writeToken': writeToken, ':value': value },
    };
    await this.#table
      .update(input, () => true)
      .catch((error) => {
        if (!(error instanceof ConditionFailedError)) throw error;
      });
  }
}

function parseClaim(item: Item): (Claim & { readonly expiresAt: number }) | undefined {
  const { fingerprint, bookId, writeToken, done, expiresAt } = item;
  if (!isText(fingerprint) || !isInteger(bookId) || !isText(writeToken) || !isInteger(expiresAt))
    return undefined;
  return { fingerprint, bookId, writeToken, done: done === true, expiresAt };
}

/** @returns the SHA-256 of the parts in base64url */
export function fingerprintOf(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

const nowInSeconds = () => Math.floor(Date.now() / 1000);
