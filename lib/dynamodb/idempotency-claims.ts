import { createHash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { StorageUnavailableError } from '../books/errors.ts';
import { translateDynamoDBError } from './errors.ts';
import { claimKey } from './keys.ts';
import { readItem } from './read-item.ts';

/** How long a key stands for its book. */
const lifetimeSeconds = 7 * 24 * 60 * 60;

/** What an idempotency key stands for: the item that makes creates with that key one. */
export interface Claim {
  /** Digest of the key and of the fields that it was first used with. */
  readonly fingerprint: string;
  /** The id that was drawn for the book. */
  readonly bookId: number;
  /** The write token that the book is stored with. */
  readonly writeToken: string;
  /** Whether the book has been stored, so that nobody stores it again after it has been deleted. */
  readonly done?: boolean;
}

/**
 * The claims of idempotency keys, in the table of the books, in partitions that no list reads. Expired ones count as
 * absent; DynamoDB's time to live removes them by their attribute `expiresAt`, in seconds since 1970.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response.
 */
export class IdempotencyClaims {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  /**
   * @param client - a document client
   * @param tableName - a table that {@link verifyTable} accepts
   */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /**
   * @param key - the idempotency key
   * @returns its claim, or `undefined` when it has none
   */
  async find(key: string): Promise<Claim | undefined> {
    const item = await readItem(
      this.#client,
      this.#tableName,
      claimKey(key),
      ({ fingerprint, bookId, writeToken, expiresAt }) =>
        typeof fingerprint === 'string' &&
        typeof writeToken === 'string' &&
        [bookId, expiresAt].every(Number.isSafeInteger),
    );
    return item && item.expiresAt > nowInSeconds() ? (item as unknown as Claim) : undefined;
  }

  /**
   * Stores a claim, unless the key has one.
   *
   * @param key - the idempotency key
   * @param claim - the claim to store
   * @returns the claim that the key has now: this one, or that of a request at the same time
   */
  async add(key: string, claim: Claim): Promise<Claim> {
    const now = nowInSeconds();
    const command = new PutCommand({
      TableName: this.#tableName,
      Item: { ...claimKey(key), ...claim, expiresAt: now + lifetimeSeconds },
      ConditionExpression: 'attribute_not_exists(id) OR expiresAt <= :now',
      ExpressionAttributeValues: { ':now': now },
    });
    try {
      await this.#client.send(command);
      return claim;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw translateDynamoDBError(error);
      const existing = await this.find(key);
      if (existing === undefined) throw new StorageUnavailableError('a claim expired meanwhile');
      return existing;
    }
  }

  /** Notes that the book of a claim has been stored. */
  markDone(key: string, claim: Claim): Promise<void> {
    return this.#change(key, claim, 'SET done = :value', true);
  }

  /** Gives a key free whose book was not stored and never will be. Time to live ignores what expired 5 years ago. */
  release(key: string, claim: Claim): Promise<void> {
    return this.#change(key, claim, 'SET expiresAt = :value', nowInSeconds());
  }

  async #change(key: string, { writeToken }: Claim, expression: string, value: unknown): Promise<void> {
    const command = new UpdateCommand({
      TableName: this.#tableName,
      Key: claimKey(key),
      // An update would make an item of a claim that is gone.
      ConditionExpression: 'writeToken = :writeToken',
      UpdateExpression: expression,
      ExpressionAttributeValues: { ':writeToken': writeToken, ':value': value },
    });
    try {
      await this.#client.send(command);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw translateDynamoDBError(error);
    }
  }
}

/**
 * @param parts - texts
 * @returns the SHA-256 of them in base64url; other texts, or the same ones cut elsewhere, have another
 */
export function fingerprintOf(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
