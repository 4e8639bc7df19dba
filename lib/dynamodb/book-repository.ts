import { type BookFields, bookFields, type CreatedBook, type VersionedBook } from '../books/book.ts';
import {
  BookNotFoundError,
  BookTooLargeError,
  IdempotencyKeyUsedError,
  IdsExhaustedError,
  IdTakenError,
  StorageUnavailableError,
  VersionMismatchError,
} from '../books/errors.ts';
import { attemptTimeoutMs } from './attempts.ts';
import { AttemptError, ConditionFailedError } from './errors.ts';
import { findClaim, fingerprintOf, putClaim, type StoredClaim } from './idempotency-claims.ts';
import { bookKey, counterKey } from './keys.ts';
import { isTooLarge, parseDrawnId, parseStoredBook, type StoredBook } from './stored-items.ts';
import type { Table } from './table.ts';
import { isSince, tokenLimit } from './write-token.ts';

/** "Constraints in Amazon DynamoDB": operands of IN. */
const maxVersions = 100;

/** No entity tag has a quotation mark, so it stands for the version of a book without one. */
const untagged = '"';

/** The versions that a book may have; any when absent. */
type Versions = readonly string[] | undefined;

/** A change of the item of a book. */
interface Change {
  /** An update expression that ends with SET, and its placeholders. */
  readonly expression: string;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether the book would not fit into an item, which comes before a wrong version (specification 12.6). */
  readonly isRefusedForSize?: (current: VersionedBook) => boolean;
  /** Whether it removes the book. */
  readonly removes: boolean;
}

/** What a write does to the tokens of a book; one that was stored by other means has none. */
const shiftTokens = 'previousWriteToken = if_not_exists(writeToken, :writeToken), writeToken = :writeToken';

/** What is left of a deleted book refuses late attempts for this long. DynamoDB's time to live removes it some time later. */
const deletedSeconds = 24 * 60 * 60;

/**
 * The books one by one. Each operation throws a {@link StorageUnavailableError} when the database gives no usable response,
 * or nobody can know whether a write was carried out; with versions, also a {@link VersionMismatchError} when the book has
 * none of them.
 *
 * An attempt at a write may arrive after it was given up, and must then do nothing. So each attempt has a token, which
 * becomes the version of the book, and a condition:
 *
 * - A create needs an id that no book has or had. A deletion leaves an item without the book.
 * - The first attempt at an update or a deletion needs two last writes that are older than the attempt's own deadline, so it
 *   never undoes a write that began after the deadline, even if a slow one that began before has replaced that. With versions,
 *   it needs one of these.
 * - Every later attempt needs exactly the version that was read in between. An update then also raises the `fence` of the
 *   item, which refuses the attempts before it for good.
 *
 * After a lost response, the item tells what happened: it has a token of ours, or no write since ours began can have
 * replaced it ({@link mayBeReplaced}), or nobody can know.
 */
export class BookRepository {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Stores a book under a new id; with an idempotency key only once, however often it is called within 7 days.
   *
   * @throws {BookTooLargeError | IdempotencyKeyUsedError | IdsExhaustedError}
   * @throws {IdTakenError} when the counter drew the id of an existing book; that book stays as it is
   */
  async create(fields: BookFields, idempotencyKey?: string): Promise<CreatedBook> {
    if (isTooLarge(fields)) throw new BookTooLargeError();
    if (idempotencyKey !== undefined) return this.#createOnce(fields, idempotencyKey);
    const book = { id: await this.#drawId(), ...fields };
    return this.#table.attempts.write<CreatedBook>({
      send: async (token, options) => {
        await this.#table.put(putBook(book.id, fields, token), options);
        return { book, version: token, replayed: false };
      },
      settle: async ({ lost, refused }) => {
        const found = await this.#find(book.id);
        const version = found && ownToken(found, lost);
        if (version !== undefined) return { book, version, replayed: false };
        if (found && mayBeReplaced(found, lost)) throw new StorageUnavailableError('others changed the book');
        if (found || refused) throw new IdTakenError(book.id);
        return undefined;
      },
    });
  }

  /** Stores the claim of the key together with the book, so that there is never one without the other. */
  async #createOnce(fields: BookFields, key: string): Promise<CreatedBook> {
    const now = Math.floor(Date.now() / 1000);
    const fingerprint = fingerprintOf(key, fields);
    const toCreated = (
      { bookId, writeToken, ...claim }: StoredClaim,
      ours: readonly string[],
    ): CreatedBook => {
      if (claim.fingerprint !== fingerprint) throw new IdempotencyKeyUsedError();
      return { book: { id: bookId, ...fields }, version: writeToken, replayed: !ours.includes(writeToken) };
    };
    const claim = await findClaim(this.#table, key, now);
    const replay = claim && toCreated(claim, []);
    if (replay && claim.done) return replay;
    const bookId = claim?.bookId ?? (await this.#drawId());
    return this.#table.attempts.write<CreatedBook>({
      send: async (token, options) => {
        const own = { fingerprint, bookId, writeToken: token };
        await this.#table.putAll([putClaim(key, own, now), putBook(bookId, fields, token)], options);
        return toCreated({ ...own, done: true }, [token]);
      },
      settle: async ({ lost, refused }) => {
        const found = await findClaim(this.#table, key, now);
        if (found && (found.done || refused)) return toCreated(found, lost);
        if (refused) throw new IdTakenError(bookId);
        return undefined;
      },
    });
  }

  /** @throws {BookNotFoundError} */
  async get(id: number): Promise<VersionedBook> {
    return currentOf(await this.#find(id));
  }

  /**
   * Changes the given fields of a book in one request, so that concurrent updates never undo each other.
   *
   * @returns the whole book after the update
   * @throws {BookNotFoundError | BookTooLargeError}
   */
  async update(id: number, changes: Partial<BookFields>, versions?: Versions): Promise<VersionedBook> {
    const isRefusedForSize = ({ book }: VersionedBook) => isTooLarge({ ...book, ...changes });
    const entries = Object.entries(changes);
    if (isTooLarge(changes)) {
      await this.get(id);
      throw new BookTooLargeError();
    }
    if (entries.length === 0) return check(await this.#find(id), versions);
    const stored = await this.#change(id, versions, {
      expression: `SET ${entries.map(([name]) => `#${name} = :${name}`).join()}`,
      names: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
      values: Object.fromEntries(entries.map(([name, value]) => [`:${name}`, value])),
      isRefusedForSize,
      removes: false,
    });
    return currentOf(stored);
  }

  /**
   * Removes a book. Its tokens stay for a day, so that a lost response can be told from a book that was not there.
   *
   * @throws {BookNotFoundError}
   */
  async delete(id: number, versions?: Versions): Promise<void> {
    const names = Object.fromEntries(Object.keys(bookFields).map((name) => [`#${name}`, name]));
    await this.#change(id, versions, {
      expression: `REMOVE ${Object.keys(names).join()} SET expiresAt = :expiresAt`,
      names,
      values: { ':expiresAt': Math.floor(Date.now() / 1000) + deletedSeconds },
      removes: true,
    });
  }

  /** Changes the item of a book, once, while it has one of the versions. */
  async #change(id: number, versions: Versions, change: Change): Promise<StoredBook> {
    let seen: StoredBook | undefined;
    let fence: string | undefined;
    if (needsReading(versions)) {
      seen = await this.#find(id);
      check(seen, versions, change.isRefusedForSize);
    }
    return this.#table.attempts.write({
      send: async (token, options) => {
        const condition = conditionOf(token, versions, seen, fence);
        const input = {
          Key: bookKey(id),
          ConditionExpression: condition.expression,
          UpdateExpression: `${change.expression}, ${shiftTokens}${fence === undefined ? '' : ', fence = :fence'}`,
          ExpressionAttributeNames: change.names,
          ExpressionAttributeValues: {
            ...condition.values,
            ...change.values,
            ':writeToken': token,
            ...(fence && { ':fence': fence }),
          },
          ReturnValues: 'ALL_NEW' as const,
        };
        const stored = await this.#table.update(input, parseStoredBook, options);
        if (stored.version !== token || (stored.book === undefined) !== change.removes) {
          throw new AttemptError('the response is not what was written', { mayBeDone: true });
        }
        return stored;
      },
      settle: async ({ lost }) => {
        const found = await this.#find(id);
        const isOurs = found && ownToken(found, lost) !== undefined;
        if (isOurs && (found.book === undefined) === change.removes) return found;
        const needed = seen ? [seen.version] : versions;
        // A deletion is the last write of a book: another one would be that of others.
        if (found && !change.removes && mayBeReplaced(found, lost, needed)) {
          throw new StorageUnavailableError('others changed the book');
        }
        check(found, versions, change.isRefusedForSize);
        seen = found;
        // Others may have raised the fence higher.
        if (lost.length > 0) fence = [found?.fence ?? '', ...lost].toSorted().at(-1);
        return undefined;
      },
    });
  }

  /** Draws a new id. An `ADD` that is carried out twice leaves a gap between ids, and nothing worse. */
  async #drawId(): Promise<number> {
    const input = {
      Key: counterKey,
      UpdateExpression: 'ADD lastId :one',
      ConditionExpression: 'attribute_not_exists(lastId) OR lastId < :max',
      ExpressionAttributeValues: { ':one': 1, ':max': Number.MAX_SAFE_INTEGER },
      ReturnValues: 'UPDATED_NEW' as const,
    };
    try {
      return await this.#table.attempts.repeat((options) => this.#table.update(input, parseDrawnId, options));
    } catch (error) {
      throw error instanceof ConditionFailedError ? new IdsExhaustedError({ cause: error }) : error;
    }
  }

  #find(id: number): Promise<StoredBook | undefined> {
    return this.#table.get(bookKey(id), parseStoredBook);
  }
}

/** Makes the input that puts a book under an id that none has. */
function putBook(id: number, fields: BookFields, token: string) {
  const Item = { ...bookKey(id), ...fields, writeToken: token };
  return { Item, ConditionExpression: 'attribute_not_exists(id)' };
}

/** Makes the condition of one attempt at an update or a deletion, after the book has been `seen` or before. */
function conditionOf(token: string, versions: Versions, seen?: StoredBook, fence?: string) {
  const deadline = tokenLimit(token, attemptTimeoutMs);
  const isOrdinary = ({ version = deadline, previousVersion = '', fence = '' }: StoredBook) =>
    version < deadline && previousVersion < deadline && fence < token;
  if (seen && (versions || fence !== undefined || !isOrdinary(seen))) {
    const { version } = seen;
    if (version !== undefined) return { expression: 'writeToken = :seen', values: { ':seen': version } };
    return { expression: 'attribute_exists(id) AND attribute_not_exists(writeToken)', values: {} };
  }
  if (versions) {
    const values = Object.fromEntries(versions.map((version, index) => [`:version${index}`, version]));
    return { expression: `writeToken IN (${Object.keys(values).join()})`, values };
  }
  const isBelow = (name: string, limit: string) => `(attribute_not_exists(${name}) OR ${name} < ${limit})`;
  const isInTime = `writeToken < :deadline AND ${isBelow('previousWriteToken', ':deadline')}`;
  return {
    expression: `attribute_not_exists(expiresAt) AND ${isInTime} AND ${isBelow('fence', ':writeToken')}`,
    values: { ':deadline': deadline },
  };
}

/** Whether a condition cannot hold all versions, or none. */
function needsReading(versions: Versions): boolean {
  return versions !== undefined && (versions.length === 0 || versions.length > maxVersions);
}

/** @throws {BookNotFoundError} when there is no book, or not any more */
function currentOf(found: StoredBook | undefined): VersionedBook {
  if (found?.book === undefined) throw new BookNotFoundError();
  return { book: found.book, version: found.version };
}

/** @throws {BookNotFoundError | BookTooLargeError | VersionMismatchError} unless there is a book in one of the versions */
function check(
  found: StoredBook | undefined,
  versions: Versions,
  isRefusedForSize?: Change['isRefusedForSize'],
): VersionedBook {
  const current = currentOf(found);
  if (versions?.includes(current.version ?? untagged) ?? true) return current;
  throw isRefusedForSize?.(current) ? new BookTooLargeError() : new VersionMismatchError();
}

/** @returns the token among ours with which the book was written last, or before the last time */
function ownToken({ version, previousVersion }: StoredBook, ours: readonly string[]): string | undefined {
  return ours.find((token) => token === version || token === previousVersion);
}

/**
 * Whether one of our lost writes may have been carried out and replaced twice since. Otherwise the version before the last
 * one is either ours, or one that our write needed, or older than ours: a write after ours compared its deadline with our
 * token, so its own token is at most the timeout of an attempt older.
 */
function mayBeReplaced(
  { previousVersion }: StoredBook,
  [first]: readonly string[],
  needed: readonly (string | undefined)[] = [],
): boolean {
  if (first === undefined || needed.includes(previousVersion)) return false;
  return isSince(previousVersion, tokenLimit(first, -attemptTimeoutMs));
}
