import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type BookFields, type CreatedBook, maxTextBytes, type VersionedBook } from '../books/book.ts';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdempotencyKeyUsedError,
  IdTakenError,
  StorageUnavailableError,
  VersionMismatchError,
} from '../books/errors.ts';
import { translateDynamoDBError } from './errors.ts';
import { type Claim, fingerprintOf, IdempotencyClaims } from './idempotency-claims.ts';
import { bookKey, counterKey } from './keys.ts';
import { type Item, readItem } from './read-item.ts';
import { isBookItem, isCounterItem } from './stored-item.ts';
import { watchAttempts } from './watch-attempts.ts';

/** Enough that two writes never draw the same token; each book carries one, so no longer than that. */
const writeTokenBytes = 9;

/**
 * What an update does to the write tokens. A book whose tokens are missing was stored by other means; it gets them. The
 * first token, which tells who created the book, is an attribute of its own only once the book has been updated.
 */
const shiftWriteTokens =
  'createToken = if_not_exists(createToken, if_not_exists(writeToken, :writeToken)), ' +
  'previousWriteToken = if_not_exists(writeToken, :writeToken), writeToken = :writeToken';

const tooLarge = 'the texts alone are larger than an item may be';

/** "Constraints in Amazon DynamoDB": operands of IN. */
const maxVersions = 100;

/**
 * The books in DynamoDB. Reads are strongly consistent.
 *
 * The SDK retries a request whose response was lost, although it may have been carried out. Every write is built so that
 * this makes no difference to what the client is told, or to what is stored: each book carries the tokens of the write
 * that created it and of the last two writes, so that a retry can tell that an earlier attempt was carried out, even when
 * another client has changed the book since. The last token is the book's version.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response.
 */
export class BookRepository {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;
  readonly #claims: IdempotencyClaims;

  /**
   * @param client - a document client
   * @param tableName - a table that {@link verifyTable} accepts
   */
  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
    this.#claims = new IdempotencyClaims(client, tableName);
  }

  /**
   * Stores a book under a new id; with an idempotency key only once, however often it is called within 7 days.
   *
   * @param fields - the book
   * @param idempotencyKey - what the client calls this create by
   * @returns the book as it was created
   * @throws {BookTooLargeError} when the book does not fit into an item
   * @throws {IdempotencyKeyUsedError} when the key stands for a book with other fields
   * @throws {IdTakenError} when the counter gave an id that a book has; that book stays as it is
   */
  async create(fields: BookFields, idempotencyKey?: string): Promise<CreatedBook> {
    if (isOversized(fields)) throw new BookTooLargeError(tooLarge);
    if (idempotencyKey !== undefined) return this.#createOnce(fields, idempotencyKey);
    const created = versionedBook(await this.#drawId(), fields, createWriteToken());
    await this.#store(created, { claimed: false });
    return { ...created, replayed: false };
  }

  /**
   * The claim of the key is stored before the book and marked as done after it. A request that finds a claim which is not
   * done completes it: same id, same write token, so that both requests store the same item.
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
      // Once the counter is mended, the key gets another id.
      if (error instanceof IdTakenError) await this.#claims.release(key, claim);
      throw error;
    }
  }

  /**
   * Stores a new book.
   *
   * @param claimed - whether other requests may store the same book
   * @returns whether this request stored it, and not an earlier one
   */
  async #store(
    { book: { id, ...fields }, version }: VersionedBook,
    { claimed }: { claimed: boolean },
  ): Promise<boolean> {
    const command = new PutCommand({
      TableName: this.#tableName,
      Item: { ...bookKey(id), ...fields, writeToken: version },
      ConditionExpression: 'attribute_not_exists(id)',
    });
    const attempts = watchAttempts(command);
    try {
      await this.#client.send(command);
      return true;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw translateDynamoDBError(error);
      const item = await this.#readBook(id);
      const stored =
        item === undefined
          ? claimed || attempts.responseLost // and deleted since
          : (item.createToken ?? item.writeToken) === version;
      if (!stored) throw new IdTakenError(id, { cause: error });
      return attempts.responseLost;
    }
  }

  /**
   * @param id - the id of a book
   * @returns the book
   * @throws {BookNotFoundError} when there is none
   */
  async get(id: number): Promise<VersionedBook> {
    const item = await this.#readBook(id);
    if (item === undefined) throw new BookNotFoundError();
    return toVersionedBook(item);
  }

  /**
   * Changes the given fields of a book in one request, so that updates at the same time never undo each other.
   *
   * @param id - the id of a book
   * @param changes - the fields to set; the others keep their values
   * @param versions - the versions in which the book may be; any when absent
   * @returns the whole book as it is now
   * @throws {BookNotFoundError} when there is no such book
   * @throws {BookTooLargeError} when the changed book would not fit into an item; it is not changed
   * @throws {VersionMismatchError} when the book is in none of the versions; it is not changed
   */
  async update(
    id: number,
    changes: Partial<BookFields>,
    versions?: readonly string[],
  ): Promise<VersionedBook> {
    const names = Object.keys(changes);
    if (names.length === 0) return this.#getVersion(id, versions);
    if (isOversized(changes)) {
      await this.get(id);
      throw new BookTooLargeError(tooLarge);
    }
    const condition = await this.#conditionOn(id, versions);
    const writeToken = createWriteToken();
    const command = new UpdateCommand({
      TableName: this.#tableName,
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
    });
    const attempts = watchAttempts(command, ({ Attributes: item = {} }) => isBookItem(item));
    try {
      const { Attributes: item = {} } = await this.#client.send(command);
      return toVersionedBook(item);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        if (versions === undefined && !attempts.responseLost) throw new BookNotFoundError();
        return this.#explainRefusal(id, writeToken, versions, attempts.responseLost);
      }
      const translated = translateDynamoDBError(error);
      // DynamoDB may look at the size before it looks for the book.
      if (translated instanceof BookTooLargeError) await this.get(id);
      throw translated;
    }
  }

  /** Finds out why the condition of an update failed, one of whose attempts may have been carried out. */
  async #explainRefusal(
    id: number,
    writeToken: string,
    versions: readonly string[] | undefined,
    responseLost: boolean,
  ): Promise<VersionedBook> {
    const item = await this.#readBook(id);
    if (item === undefined) throw new BookNotFoundError();
    if (item.writeToken === writeToken || item.previousWriteToken === writeToken)
      return toVersionedBook(item);
    // The book went from a version that the client named to another one at once, so not through ours.
    const overtaken = versions?.includes(item.previousWriteToken) ?? false;
    if (!responseLost || overtaken) throw new VersionMismatchError();
    throw new StorageUnavailableError('an update whose response was lost may have been carried out');
  }

  /**
   * Removes a book.
   *
   * When a response was lost and the retry finds no book, our own request may well have removed it: that counts as done,
   * as a false "not found" would be worse.
   *
   * @param id - the id of a book
   * @param versions - the versions in which the book may be; any when absent
   * @throws {BookNotFoundError} when there is no such book
   * @throws {VersionMismatchError} when the book is in none of the versions; it is not removed
   */
  async delete(id: number, versions?: readonly string[]): Promise<void> {
    const condition = await this.#conditionOn(id, versions);
    const command = new DeleteCommand({
      TableName: this.#tableName,
      Key: bookKey(id),
      ConditionExpression: condition.expression,
      ...(versions && { ExpressionAttributeValues: condition.values }),
    });
    const attempts = watchAttempts(command);
    try {
      await this.#client.send(command);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw translateDynamoDBError(error);
      if (versions !== undefined && (await this.#readBook(id)) !== undefined)
        throw new VersionMismatchError();
      if (!attempts.responseLost) throw new BookNotFoundError();
    }
  }

  /** @throws {VersionMismatchError} when the book is in none of the versions */
  async #getVersion(id: number, versions: readonly string[] | undefined): Promise<VersionedBook> {
    const current = await this.get(id);
    if (versions && !versions.includes(current.version ?? '')) throw new VersionMismatchError();
    return current;
  }

  /** The condition that a book is there, in one of the versions. */
  async #conditionOn(
    id: number,
    versions: readonly string[] | undefined,
  ): Promise<{ expression: string; values: Record<string, string> }> {
    if (versions === undefined) return { expression: 'attribute_exists(id)', values: {} };
    const fits = versions.length > 0 && versions.length <= maxVersions;
    const named = fits ? versions : [(await this.#getVersion(id, versions)).version ?? ''];
    const values = Object.fromEntries(named.map((version, index) => [`:version${index}`, version]));
    return { expression: `attribute_exists(id) AND writeToken IN (${Object.keys(values).join()})`, values };
  }

  /** A request that was carried out twice leaves a gap between ids, and nothing worse. */
  async #drawId(): Promise<number> {
    const command = new UpdateCommand({
      TableName: this.#tableName,
      Key: counterKey,
      UpdateExpression: 'ADD lastId :one',
      ExpressionAttributeValues: { ':one': 1 },
      ReturnValues: 'UPDATED_NEW',
    });
    watchAttempts(command, ({ Attributes: counter = {} }) => isCounterItem(counter) && counter.lastId > 0);
    try {
      const { Attributes: counter } = await this.#client.send(command);
      return Number(counter?.lastId);
    } catch (error) {
      throw translateDynamoDBError(error);
    }
  }

  #readBook(id: number): Promise<Item | undefined> {
    return readItem(this.#client, this.#tableName, bookKey(id), isBookItem);
  }
}

function versionedBook(id: number, { title, author, year }: BookFields, version: string): VersionedBook {
  return { book: { id, title, author, year }, version };
}

function toVersionedBook({ id, title, author, year, writeToken }: Item): VersionedBook {
  return { book: { id, title, author, year }, version: writeToken };
}

/** What cannot fit, and a new book to which no update could add its tokens. The database does the exact sum. */
function isOversized({ title = '', author = '' }: Partial<BookFields>): boolean {
  return Buffer.byteLength(title) + Buffer.byteLength(author) > maxTextBytes;
}

function createWriteToken(): string {
  return randomBytes(writeTokenBytes).toString('base64url');
}
