import type { Book, BookFields, CreatedBook, VersionedBook } from '../../books/book.ts';
import {
  type ConditionFailedError,
  CounterError,
  ItemTooLargeError,
  StorageUnavailableError,
} from '../connection/errors.ts';
import type { Write } from '../table/attempts.ts';
import { bookKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { checkNotReplaced } from '../table/versions.ts';
import { changeBook, requireBook } from './change-book.ts';
import { Counter, repairAdvice } from './counter.ts';
import { IdempotencyClaim } from './idempotency-claim.ts';
import { isTooLarge, parseStoredBook } from './stored-book.ts';

/**
 * The books, one at a time. {@link changeBook} explains what happens when a response is lost.
 *
 * Each operation throws a {@link StorageUnavailableError} when the database gives no usable response, or nobody can
 * know whether a write was carried out. `accepted` are the versions that the client accepts, any by default. Where it is
 * given, an operation may throw a {@link VersionMismatchError}.
 */
export class BookRepository {
  readonly #table: Table;
  readonly #counter: Counter;

  constructor(table: Table) {
    this.#table = table;
    this.#counter = new Counter(table);
  }

  /**
   * Stores a book under a new id. With an idempotency key, it does so once, however often it is called within 7 days.
   * The claim of the key is stored in one transaction with the book, so there is never one without the other.
   *
   * @throws {ItemTooLargeError | IdempotencyKeyUsedError | CounterError}
   */
  async create(fields: BookFields, idempotencyKey?: string): Promise<CreatedBook> {
    if (isTooLarge(fields)) throw new ItemTooLargeError();
    const store = async () => {
      const id = await this.#counter.drawId();
      const create =
        idempotencyKey === undefined ? this.#create(id, fields) : this.#createOnce(id, fields, idempotencyKey);
      return this.#table.attempts.write(create);
    };
    return store().catch((error) => {
      // One such id may come from a response that was sent twice. A second one means that the counter is wrong.
      if (error instanceof IdInUseError) return store();
      throw error;
    });
  }

  #create(id: number, fields: BookFields): Write<CreatedBook> {
    const book = { id, ...fields };
    return {
      send: async ({ version, abortSignal }) => {
        await this.#table.put(makeBookPut(book, version), abortSignal);
        return { book, version, replayed: false };
      },
      resolve: async ({ sent, lost, refusal }) => {
        const found = await this.#find(id, refusal);
        if (found === undefined) return {};
        const { version } = found;
        if (sent.some((each) => each === version)) return { result: { book, version, replayed: false } };
        checkNotReplaced(lost, version);
        throw new IdInUseError(id);
      },
    };
  }

  #createOnce(id: number, fields: BookFields, idempotencyKey: string): Write<CreatedBook> {
    const book = { id, ...fields };
    const claim = new IdempotencyClaim(idempotencyKey, fields);
    return {
      send: async ({ version, abortSignal }) => {
        await this.#table.putAll([claim.makePut(id, version), makeBookPut(book, version)], abortSignal);
        return { book, version, replayed: false };
      },
      resolve: async ({ sent, refusal }) => {
        const stored = await claim.find(this.#table, refusal?.stored);
        if (stored) {
          const { bookId, version } = stored;
          return { result: { book: { id: bookId, ...fields }, version, replayed: !sent.includes(version) } };
        }
        // Without a claim, none of our attempts was carried out, so a book with the id is another one.
        if (refusal && (await this.#find(id, refusal))) throw new IdInUseError(id);
        return {};
      },
    };
  }

  /** @throws {BookNotFoundError} */
  async get(id: number): Promise<VersionedBook> {
    return requireBook(await this.#find(id));
  }

  /** Changes the given fields of a book. @returns the whole book @throws {BookNotFoundError | ItemTooLargeError} */
  async update(id: number, changes: Partial<BookFields>, accepted?: readonly string[]): Promise<VersionedBook> {
    if (isTooLarge(changes)) {
      await this.get(id);
      throw new ItemTooLargeError();
    }
    if (Object.keys(changes).length === 0) return requireBook(await this.#find(id), accepted);
    return requireBook(await changeBook(this.#table, id, changes, accepted));
  }

  /** Removes a book. @throws {BookNotFoundError} */
  async delete(id: number, accepted?: readonly string[]): Promise<void> {
    await changeBook(this.#table, id, undefined, accepted);
  }

  #find(id: number, refusal?: ConditionFailedError) {
    return this.#table.get(bookKey(id), parseStoredBook, refusal?.stored);
  }
}

/** Makes the input that puts a book under an id that no item has. A deleted book leaves an item, which keeps its id. */
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
