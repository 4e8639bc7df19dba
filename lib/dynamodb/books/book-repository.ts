import { randomUUID } from 'node:crypto';
import type { Book, BookFields, CreatedBook, VersionedBook } from '../../books/book.ts';
import { CounterError, ItemTooLargeError } from '../connection/errors.ts';
import { bookKey } from '../table/keys.ts';
import type { Item } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';
import { changeBook, requireBook } from './change-book.ts';
import { drawId, repairAdvice } from './counter.ts';
import { IdempotencyRecord } from './idempotency-record.ts';
import { isTooLarge, parseStoredBook } from './stored-book.ts';

/**
 * The books, one at a time. {@link changeBook} explains what happens when a response is lost.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response, and a write an
 * {@link OutcomeUnknownError} when nobody can know whether it was carried out. `accepted` are the versions that the client
 * accepts, any by default. Where it is given, an operation may throw a {@link VersionMismatchError}.
 */
export class BookRepository {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Stores a book under a new id. With an idempotency key, it does so once, however often it is called within 7 days.
   * An idempotency record is stored in one transaction with the book, so there is never one without the other.
   *
   * @throws {ItemTooLargeError | IdempotencyKeyUsedError | CounterError}
   */
  async create(fields: BookFields, idempotencyKey?: string): Promise<CreatedBook> {
    if (isTooLarge(fields)) throw new ItemTooLargeError();
    const store = async () => {
      const book = { id: await drawId(this.#table), ...fields };
      return idempotencyKey === undefined ? this.#create(book) : this.#createOnce(book, idempotencyKey);
    };
    return store().catch((error) => {
      // One such id may come from a response that was sent twice. A second one means that the counter is wrong.
      if (error instanceof IdInUseError) return store();
      throw error;
    });
  }

  async #create(book: Book): Promise<CreatedBook> {
    const version = randomUUID();
    const { value, refusal, lost } = await this.#table.write(async (abortSignal) => {
      await this.#table.put(makeBookPut(book, version), abortSignal);
      return { version };
    });
    const found = value ?? (await this.#find(book.id, refusal?.stored));
    if (found?.version !== version) throw lost ?? new IdInUseError(book.id);
    return { book, version, replayed: false };
  }

  async #createOnce({ id, ...fields }: Book, idempotencyKey: string): Promise<CreatedBook> {
    const record = new IdempotencyRecord(idempotencyKey, fields);
    const own = randomUUID();
    const { value, refusal, lost } = await this.#table.write(async (abortSignal) => {
      await this.#table.putAll([record.makePut(id, own), makeBookPut({ id, ...fields }, own)], abortSignal);
      return { bookId: id, version: own };
    });
    const stored = value ?? (await record.find(this.#table, refusal?.stored));
    if (stored === undefined) throw lost ?? new IdInUseError(id);
    const { bookId, version } = stored;
    return { book: { id: bookId, ...fields }, version, replayed: version !== own };
  }

  /** @throws {BookNotFoundError} */
  async get(id: number): Promise<VersionedBook> {
    return requireBook(await this.#find(id));
  }

  /** Changes the given fields of a book. @returns the whole book @throws {BookNotFoundError | ItemTooLargeError} */
  async update(id: number, changes: Partial<BookFields>, accepted?: readonly string[]): Promise<VersionedBook> {
    if (Object.keys(changes).length === 0) return requireBook(await this.#find(id), accepted);
    return requireBook(await changeBook(this.#table, id, changes, accepted));
  }

  /** Removes a book. @throws {BookNotFoundError} */
  async delete(id: number, accepted?: readonly string[]): Promise<void> {
    await changeBook(this.#table, id, undefined, accepted);
  }

  #find(id: number, returned?: Item) {
    return this.#table.get(bookKey(id), parseStoredBook, returned);
  }
}

/** Makes the input that puts a book under an id that no item has. A tombstone keeps its id. */
function makeBookPut(book: Book, version: string) {
  return {
    Item: { ...bookKey(book.id), ...book, version },
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

/** The counter drew an id that a book has already. */
class IdInUseError extends CounterError {
  constructor(id: number) {
    super(`the counter drew id ${id}, which a book has already: ${repairAdvice}`);
  }
}
