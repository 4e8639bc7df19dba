import { randomBytes } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type BookFields, type CreatedBook, maxTextBytes, type VersionedBook } from '../books/book.ts';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdempotencyKeyUsedError,
  IdTakenError,
  StorageUnavailableError,
  VersionMismatchError,
} from '../books/errors.ts';
import { ConditionFailedError, isValidationError } from './errors.ts';
import { fingerprintOf, IdempotencyClaims } from './idempotency-claims.ts';
import { bookKey, counterKey } from './keys.ts';
import { parseBook, parseCounter, type StoredBook } from './stored-items.ts';
import { Table } from './table.ts';

/** What an update does to the write tokens. A book that was stored by other means has none and gets them. */
const shiftWriteTokens =
  'createToken = if_not_exists(createToken, if_not_exists(writeToken, :writeToken)), ' +
  'previousWriteToken = if_not_exists(writeToken, :writeToken), writeToken = :writeToken';

/** "Constraints in Amazon DynamoDB": operands of IN. */
const maxVersions = 100;

/** The versions that a book may have; any when absent. */
type Versions = readonly string[] | undefined;

/**
 * The SDK retries a request whose response was lost, although it may have been carried out. Each book carries the tokens
 * of the write that created it and of the last two writes, so that a retry detects that an earlier attempt was carried
 * out, even when another client has changed the book since. The token of the last write is the book's version.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response, and a
 * {@link VersionMismatchError} when the book has none of the versions.
 */
export class BookRepository {
  readonly #table: Table;
  readonly #claims: IdempotencyClaims;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#table = new Table(client, tableName);
    this.#claims = new IdempotencyClaims(this.#table);
  }

  /**
   * Stores a book under a new id; with an idempotency key only once, however often it is called within 7 days.
   *
   * @throws {BookTooLargeError | IdempotencyKeyUsedError}
   * @throws {IdTakenError} when the counter drew the id of an existing book; that book stays as it is
   */
  async create(fields: BookFields, idempotencyKey?: string): Promise<CreatedBook> {
    if (isTooLarge(fields)) throw new BookTooLargeError('the book does not fit into an item');
    if (idempotencyKey !== undefined) return this.#createOnce(fields, idempotencyKey);
    const created = { book: { id: await this.#drawId(), ...fields }, version: createWriteToken() };
    await this.#store(created, { claimed: false });
    return { ...created, replayed: false };
  }

  /**
   * Stores the claim of the key before the book and marks it as done after it. A request that finds a claim which is not
   * done completes it: same id, same write token, so both requests store the same item.
   */
  async #createOnce(fields: BookFields, key: string): Promise<CreatedBook> {
    const fingerprint = fingerprintOf([key, fields.title, fields.author, fields.year]);
    const claim =
      (await this.#claims.find(key)) ??
      (await this.#claims.add(key, {
        fingerprint,
        bookId: await this.#drawId(),
        writeToken: createWriteToken(),
      }));
    if (claim.fingerprint !== fingerprint) throw new IdempotencyKeyUsedError();
    const created = { book: { id: claim.bookId, ...fields }, version: claim.writeToken };
    if (claim.done) return { ...created, replayed: true };
    try {
      const replayed = !(await this.#store(created, { claimed: true }));
      await this.#claims.markDone(key, claim);
      return { ...created, replayed };
    } catch (error) {
      // Once the counter is repaired, the key gets another id.
      if (error instanceof IdTakenError) await this.#claims.release(key, claim);
      throw error;
    }
  }

  /** @returns whether this request stored the book; others may do so, too, when it is `claimed` */
  async #store({ book, version }: VersionedBook, { claimed }: { claimed: boolean }): Promise<boolean> {
    try {
      const Item = { ...bookKey(book.id), ...book, writeToken: version };
      await this.#table.put({ Item, ConditionExpression: 'attribute_not_exists(id)' });
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      const found = await this.#find(book.id);
      // A missing book was stored and has been deleted since.
      const stored = found === undefined ? claimed || error.responseLost : found.createToken === version;
      if (!stored) throw new IdTakenError(book.id, { cause: error });
      return error.responseLost;
    }
  }

  /** @throws {BookNotFoundError} */
  async get(id: number): Promise<VersionedBook> {
    const found = await this.#find(id);
    if (found === undefined) throw new BookNotFoundError();
    return found.current;
  }

  /**
   * Changes the given fields of a book in one request, so that concurrent updates never undo each other.
   *
   * @returns the whole book after the update
   * @throws {BookNotFoundError | BookTooLargeError}
   */
  async update(id: number, changes: Partial<BookFields>, versions?: Versions): Promise<VersionedBook> {
    const entries = Object.entries(changes);
    if (entries.length === 0) return this.#getVersion(id, versions);
    if (isTooLarge(changes)) await this.#checkSize(id, changes);
    const condition = await this.#conditionOn(id, versions);
    const writeToken = createWriteToken();
    const input = {
      Key: bookKey(id),
      ConditionExpression: `${condition.expression} AND writeToken <> :writeToken AND previousWriteToken <> :writeToken`,
      UpdateExpression: `SET ${entries.map(([name]) => `#${name} = :${name}`).join(', ')}, ${shiftWriteTokens}`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...condition.values,
        ...Object.fromEntries(entries.map(([name, value]) => [`:${name}`, value])),
        ':writeToken': writeToken,
      },
      ReturnValues: 'ALL_NEW' as const,
    };
    try {
      return (await this.#table.update(input, parseBook)).current;
    } catch (error) {
      // DynamoDB has no other error for an item over 400 KB.
      if (isValidationError(error)) await this.#checkSize(id, changes);
      if (!(error instanceof ConditionFailedError)) throw error;
      const { responseLost } = error;
      const found = versions || responseLost ? await this.#find(id) : undefined;
      if (found === undefined) throw new BookNotFoundError();
      const { current, previousToken } = found;
      if (current.version === writeToken || previousToken === writeToken) return current;
      // The last write replaced a version that the client named, so ours was not in between.
      const overtaken = versions?.some((version) => version === previousToken);
      if (overtaken || !responseLost) throw new VersionMismatchError();
      throw new StorageUnavailableError('an update whose response was lost may have been carried out');
    }
  }

  /**
   * Removes a book. When a response was lost and the retry finds no book, our own request has probably removed it: that
   * counts as success, as a false "not found" would be worse.
   *
   * @throws {BookNotFoundError}
   */
  async delete(id: number, versions?: Versions): Promise<void> {
    const condition = await this.#conditionOn(id, versions);
    try {
      await this.#table.delete({
        Key: bookKey(id),
        ConditionExpression: condition.expression,
        ...(versions && { ExpressionAttributeValues: condition.values }),
      });
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      if (versions && (await this.#find(id))) throw new VersionMismatchError();
      if (!error.responseLost) throw new BookNotFoundError();
    }
  }

  async #getVersion(id: number, versions: Versions): Promise<VersionedBook> {
    const current = await this.get(id);
    if (versions && !versions.includes(current.version ?? '')) throw new VersionMismatchError();
    return current;
  }

  /** @throws {BookTooLargeError} when the changed book would not fit into an item */
  async #checkSize(id: number, changes: Partial<BookFields>): Promise<void> {
    const { book } = await this.get(id);
    if (isTooLarge({ ...book, ...changes }))
      throw new BookTooLargeError('the changed book does not fit into an item');
  }

  /** The condition that a book exists, in one of the versions. */
  async #conditionOn(id: number, versions: Versions) {
    if (versions === undefined) return { expression: 'attribute_exists(id)', values: {} };
    const fits = versions.length > 0 && versions.length <= maxVersions;
    const operands = fits ? versions : [(await this.#getVersion(id, versions)).version ?? ''];
    const values = Object.fromEntries(operands.map((version, index) => [`:version${index}`, version]));
    return { expression: `attribute_exists(id) AND writeToken IN (${Object.keys(values).join()})`, values };
  }

  /** An update that is carried out twice leaves a gap between ids, and nothing worse. */
  #drawId(): Promise<number> {
    const input = {
      Key: counterKey,
      UpdateExpression: 'ADD lastId :one',
      ExpressionAttributeValues: { ':one': 1 },
      ReturnValues: 'UPDATED_NEW' as const,
    };
    return this.#table.update(input, (counter) => parseCounter(counter) || undefined); // 0 is no id
  }

  #find(id: number): Promise<StoredBook | undefined> {
    return this.#table.get(bookKey(id), parseBook);
  }
}

/** Whether a book cannot be stored, or could never be updated because the tokens of an update would not fit. */
function isTooLarge({ title = '', author = '' }: Partial<BookFields>): boolean {
  return Buffer.byteLength(title) + Buffer.byteLength(author) > maxTextBytes;
}

/** Long enough that no two writes draw the same token. */
function createWriteToken(): string {
  return randomBytes(9).toString('base64url');
}
