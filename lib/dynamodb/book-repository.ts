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
import { type Claim, fingerprintOf, IdempotencyClaims } from './idempotency-claims.ts';
import { bookKey, counterKey } from './keys.ts';
import { parseBook, parseCounter, type StoredBook } from './stored-items.ts';
import { Table } from './table.ts';

/** Enough that no two writes draw the same token; each book carries up to three. */
const writeTokenBytes = 9;

/**
 * What an update does to the write tokens. A book that was stored by other means has none and gets them. The token of the
 * create is an attribute of its own only once the book has been updated.
 */
const shiftWriteTokens =
  'createToken = if_not_exists(createToken, if_not_exists(writeToken, :writeToken)), ' +
  'previousWriteToken = if_not_exists(writeToken, :writeToken), writeToken = :writeToken';

/** "Constraints in Amazon DynamoDB": operands of IN. */
const maxVersions = 100;

/**
 * The books in DynamoDB.
 *
 * The SDK retries a request whose response was lost, although it may have been carried out. Each book carries the tokens
 * of the write that created it and of the last two writes, so that a retry detects that an earlier attempt was carried
 * out, even when another client has changed the book since. The token of the last write is the book's version.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response.
 */
export class BookRepository {
  readonly #table: Table;
  readonly #claims: IdempotencyClaims;

  /** @param tableName - a table that {@link Table.verify} accepts */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#table = new Table(client, tableName);
    this.#claims = new IdempotencyClaims(this.#table);
  }

  /**
   * Stores a book under a new id; with an idempotency key only once, however often it is called within 7 days.
   *
   * @throws {BookTooLargeError} when the book does not fit into an item
   * @throws {IdempotencyKeyUsedError} when the key belongs to a book with other fields
   * @throws {IdTakenError} when the counter drew the id of an existing book; that book stays as it is
   */
  async create(fields: BookFields, idempotencyKey?: string): Promise<CreatedBook> {
    if (isTooLarge(fields)) throw new BookTooLargeError('the book does not fit into an item');
    if (idempotencyKey !== undefined) return this.#createOnce(fields, idempotencyKey);
    const created = versionedBook(await this.#drawId(), fields, createWriteToken());
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
    const created = versionedBook(claim.bookId, fields, claim.writeToken);
    if (claim.done) return { ...created, replayed: true };
    const replayed = !(await this.#storeClaimed(created, key, claim));
    await this.#claims.markDone(key, claim);
    return { ...created, replayed };
  }

  async #storeClaimed(created: VersionedBook, key: string, claim: Claim): Promise<boolean> {
    try {
      return await this.#store(created, { claimed: true });
    } catch (error) {
      // Once the counter is repaired, the key gets another id.
      if (error instanceof IdTakenError) await this.#claims.release(key, claim);
      throw error;
    }
  }

  /**
   * @param claimed - whether other requests may store the same book
   * @returns whether this attempt stored the book, and not an earlier one
   */
  async #store({ book, version }: VersionedBook, { claimed }: { claimed: boolean }): Promise<boolean> {
    const { id, ...fields } = book;
    try {
      await this.#table.put({
        Item: { ...bookKey(id), ...fields, writeToken: version },
        ConditionExpression: 'attribute_not_exists(id)',
      });
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      const found = await this.#find(id);
      // A missing book was stored and has been deleted since.
      const stored = found === undefined ? claimed || error.responseLost : found.createToken === version;
      if (!stored) throw new IdTakenError(id, { cause: error });
      return error.responseLost;
    }
  }

  /** @throws {BookNotFoundError} when there is no such book */
  async get(id: number): Promise<VersionedBook> {
    const found = await this.#find(id);
    if (found === undefined) throw new BookNotFoundError();
    return found.current;
  }

  /**
   * Changes the given fields of a book in one request, so that concurrent updates never undo each other.
   *
   * @param changes - the fields to set; the others keep their values
   * @param versions - the versions that the book may have; any when absent
   * @returns the whole book after the update
   * @throws {BookNotFoundError} when there is no such book
   * @throws {BookTooLargeError} when the changed book would not fit into an item; it is not changed
   * @throws {VersionMismatchError} when the book has none of the versions; it is not changed
   */
  async update(
    id: number,
    changes: Partial<BookFields>,
    versions?: readonly string[],
  ): Promise<VersionedBook> {
    const names = Object.keys(changes);
    if (names.length === 0) return this.#getVersion(id, versions);
    if (isTooLarge(changes)) await this.#checkSize(id, changes);
    const condition = await this.#conditionOn(id, versions);
    const writeToken = createWriteToken();
    try {
      const { current } = await this.#table.update(
        {
          Key: bookKey(id),
          ConditionExpression: `${condition.expression} AND writeToken <> :writeToken AND previousWriteToken <> :writeToken`,
          UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}, ${shiftWriteTokens}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: {
            ...condition.values,
            ...Object.fromEntries(Object.entries(changes).map(([name, value]) => [`:${name}`, value])),
            ':writeToken': writeToken,
          },
          ReturnValues: 'ALL_NEW',
        },
        parseBook,
      );
      return current;
    } catch (error) {
      if (error instanceof ConditionFailedError) {
        return this.#explainRefusal(id, writeToken, versions, error.responseLost);
      }
      // For an item over 400 KB, DynamoDB has no error of its own.
      if (isValidationError(error)) await this.#checkSize(id, changes);
      throw error;
    }
  }

  /** Finds out why the condition of an update failed, one of whose attempts may have been carried out. */
  async #explainRefusal(
    id: number,
    writeToken: string,
    versions: readonly string[] | undefined,
    responseLost: boolean,
  ): Promise<VersionedBook> {
    const found = versions === undefined && !responseLost ? undefined : await this.#find(id);
    if (found === undefined) throw new BookNotFoundError();
    const { current, previousToken } = found;
    if (current.version === writeToken || previousToken === writeToken) return current;
    // The last write replaced a version that the client named, so ours was not in between.
    const overtaken = versions?.some((version) => version === previousToken) ?? false;
    if (!responseLost || overtaken) throw new VersionMismatchError();
    throw new StorageUnavailableError('an update whose response was lost may have been carried out');
  }

  /**
   * Removes a book. When a response was lost and the retry finds no book, our own request has probably removed it: that
   * counts as success, as a false "not found" would be worse.
   *
   * @param versions - the versions that the book may have; any when absent
   * @throws {BookNotFoundError} when there is no such book
   * @throws {VersionMismatchError} when the book has none of the versions; it is not removed
   */
  async delete(id: number, versions?: readonly string[]): Promise<void> {
    const condition = await this.#conditionOn(id, versions);
    try {
      await this.#table.delete({
        Key: bookKey(id),
        ConditionExpression: condition.expression,
        ...(versions && { ExpressionAttributeValues: condition.values }),
      });
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      if (versions !== undefined && (await this.#find(id)) !== undefined) throw new VersionMismatchError();
      if (!error.responseLost) throw new BookNotFoundError();
    }
  }

  /** @throws {VersionMismatchError} when the book has none of the versions */
  async #getVersion(id: number, versions: readonly string[] | undefined): Promise<VersionedBook> {
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
  async #conditionOn(
    id: number,
    versions: readonly string[] | undefined,
  ): Promise<{ expression: string; values: Record<string, string> }> {
    if (versions === undefined) return { expression: 'attribute_exists(id)', values: {} };
    const fits = versions.length > 0 && versions.length <= maxVersions;
    const operands = fits ? versions : [(await this.#getVersion(id, versions)).version ?? ''];
    const values = Object.fromEntries(operands.map((version, index) => [`:version${index}`, version]));
    return { expression: `attribute_exists(id) AND writeToken IN (${Object.keys(values).join()})`, values };
  }

  /** An update that is carried out twice leaves a gap between ids, and nothing worse. */
  #drawId(): Promise<number> {
    return this.#table.update(
      {
        Key: counterKey,
        UpdateExpression: 'ADD lastId :one',
        ExpressionAttributeValues: { ':one': 1 },
        ReturnValues: 'UPDATED_NEW',
      },
      (counter) => parseCounter(counter) || undefined, // 0 is no id
    );
  }

  #find(id: number): Promise<StoredBook | undefined> {
    return this.#table.get(bookKey(id), parseBook);
  }
}

function versionedBook(id: number, { title, author, year }: BookFields, version: string): VersionedBook {
  return { book: { id, title, author, year }, version };
}

/** Whether a book cannot be stored, or could not be updated because the tokens of an update would not fit. */
function isTooLarge({ title = '', author = '' }: Partial<BookFields>): boolean {
  return Buffer.byteLength(title) + Buffer.byteLength(author) > maxTextBytes;
}

function createWriteToken(): string {
  return randomBytes(writeTokenBytes).toString('base64url');
}
