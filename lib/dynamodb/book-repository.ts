import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  type GetCommandOutput,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Book, BookFields } from '../books/book.ts';
import { BookNotFoundError, BookTooLargeError, IdTakenError } from '../books/errors.ts';
import { translateDynamoDBError } from './errors.ts';
import { bookKey, counterKey, type ItemKey } from './keys.ts';
import { watchAttempts } from './watch-attempts.ts';

/** Enough that two writes never draw the same token; each book carries one, so no longer than that. */
const writeTokenBytes = 9;

/** A book whose tokens are missing was stored by other means; it gets them. */
const shiftWriteTokens =
  'previousWriteToken = if_not_exists(writeToken, :writeToken), writeToken = :writeToken';

/** What an item holds besides its texts: names, numbers, write tokens. */
const reservedBytes = 256;

/** "Constraints in Amazon DynamoDB": 400 KB with the names of the attributes. */
const maxItemBytes = 400 * 1024;

/**
 * The books in DynamoDB. Reads are strongly consistent.
 *
 * The SDK sends a request again when its answer was lost, although the first one may have been carried out. Every
 * write is built so that this makes no difference to what the client is told, or to what is stored: each book carries
 * the tokens of the last two writes, so that a request can tell that it was carried out before, even when another
 * client has changed the book since.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no answer.
 */
export class BookRepository {
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
   * Stores a book under a new id.
   *
   * The write token tells our own item, stored by a request whose answer was lost, from another's under the same id,
   * which a counter that was reset would lead to.
   *
   * @param fields - the book
   * @returns the book with its id
   * @throws {BookTooLargeError} when the book does not fit into an item
   * @throws {IdTakenError} when the counter gave an id that a book has; that book stays as it is
   */
  async create(fields: BookFields): Promise<Book> {
    refuseOversized(fields);
    const book: Book = { id: await this.#drawId(), ...fields };
    const writeToken = createWriteToken();
    const command = new PutCommand({
      TableName: this.#tableName,
      Item: { ...bookKey(book.id), ...fields, writeToken },
      ConditionExpression: 'attribute_not_exists(id) OR writeToken = :writeToken',
      ExpressionAttributeValues: { ':writeToken': writeToken },
    });
    const attempts = watchAttempts(command);
    try {
      await this.#client.send(command);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw translateDynamoDBError(error);
      const item = attempts.answerLost ? await this.#readItem(bookKey(book.id)) : undefined;
      if (item?.previousWriteToken !== writeToken) throw new IdTakenError(book.id, { cause: error });
    }
    return book;
  }

  /**
   * @param id - the id of a book
   * @returns the book
   * @throws {BookNotFoundError} when there is none
   */
  async get(id: number): Promise<Book> {
    const item = await this.#readItem(bookKey(id));
    if (item === undefined) throw new BookNotFoundError();
    return toBook(item);
  }

  /**
   * Changes the given fields of a book in one request, so that updates at the same time never undo each other.
   *
   * @param id - the id of a book
   * @param changes - the fields to set; the others keep their values
   * @returns the whole book as it is now
   * @throws {BookNotFoundError} when there is no such book
   * @throws {BookTooLargeError} when the changed book would not fit into an item; it is not changed
   */
  async update(id: number, changes: Partial<BookFields>): Promise<Book> {
    const names = Object.keys(changes);
    if (names.length === 0) return this.get(id);
    const writeToken = createWriteToken();
    const command = new UpdateCommand({
      TableName: this.#tableName,
      Key: bookKey(id),
      ConditionExpression:
        'attribute_exists(id) AND writeToken <> :writeToken AND previousWriteToken <> :writeToken',
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}, ${shiftWriteTokens}`,
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries(changes).map(([name, value]) => [`:${name}`, value])),
        ':writeToken': writeToken,
      },
      ReturnValues: 'ALL_NEW',
    });
    const attempts = watchAttempts(command);
    try {
      refuseOversized(changes);
      const { Attributes: item } = await this.#client.send(command);
      return toBook(item ?? {});
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        if (!attempts.answerLost) throw new BookNotFoundError();
        // There is no such book, or an attempt whose answer was lost has changed it.
        return this.get(id);
      }
      const translated = error instanceof BookTooLargeError ? error : translateDynamoDBError(error);
      // DynamoDB may look at the size before it looks for the book.
      if (translated instanceof BookTooLargeError) await this.get(id);
      throw translated;
    }
  }

  /**
   * Removes a book.
   *
   * When an answer was lost and the next one says that there is no such book, our own request may well have removed
   * it: that counts as done, as a false "not found" would be worse.
   *
   * @param id - the id of a book
   * @throws {BookNotFoundError} when there is no such book
   */
  async delete(id: number): Promise<void> {
    const command = new DeleteCommand({
      TableName: this.#tableName,
      Key: bookKey(id),
      ConditionExpression: 'attribute_exists(id)',
    });
    const attempts = watchAttempts(command);
    try {
      await this.#client.send(command);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw translateDynamoDBError(error);
      if (!attempts.answerLost) throw new BookNotFoundError();
    }
  }

  /** A request that was carried out twice leaves a gap between ids, and nothing worse. */
  async #drawId(): Promise<number> {
    try {
      const { Attributes: counter } = await this.#client.send(
        new UpdateCommand({
          TableName: this.#tableName,
          Key: counterKey,
          UpdateExpression: 'ADD lastId :one',
          ExpressionAttributeValues: { ':one': 1 },
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      return counter?.lastId;
    } catch (error) {
      throw translateDynamoDBError(error);
    }
  }

  async #readItem(key: ItemKey): Promise<Item | undefined> {
    try {
      const { Item: item } = await this.#client.send(
        new GetCommand({ TableName: this.#tableName, Key: key, ConsistentRead: true }),
      );
      return item;
    } catch (error) {
      throw translateDynamoDBError(error);
    }
  }
}

/** An item as lib-dynamodb gives it. */
type Item = NonNullable<GetCommandOutput['Item']>;

function toBook({ id, title, author, year }: Item): Book {
  return { id, title, author, year };
}

/** Refuses what cannot fit, and a new book to which no update could add its token. The database does the exact sum. */
function refuseOversized({ title = '', author = '' }: Partial<BookFields>): void {
  const textBytes = Buffer.byteLength(title) + Buffer.byteLength(author);
  if (textBytes > maxItemBytes - reservedBytes) throw new BookTooLargeError();
}

function createWriteToken(): string {
  return randomBytes(writeTokenBytes).toString('base64url');
}
