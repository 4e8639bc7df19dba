import { type BookFields, bookFields, type VersionedBook } from '../../books/book.ts';
import { BookNotFoundError, BookTooLargeError, VersionMismatchError } from '../../books/errors.ts';
import { AttemptError, type ConditionFailedError, StorageUnavailableError } from '../connection/errors.ts';
import type { Attempt, Earlier, Write } from '../table/attempts.ts';
import { bookKey } from '../table/keys.ts';
import { maxLatenessSeconds } from '../table/lateness.ts';
import { attributeNames, isTooLarge, parseStoredBook, type StoredBook } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';

/** The versions that a client accepts. `undefined` accepts any. */
export type Versions = readonly string[] | undefined;

/**
 * An update or a deletion of a book, made as one or more attempts.
 *
 * **What if a response is lost?** The request may have been carried out, or may still be under way. Each attempt has a
 * token, which becomes the version of the book. The tokens of a book only ascend. An example, with numbers as tokens:
 *
 *     Event                                     Condition         Stored token
 *     1. The book was stored.                                     10
 *     2. We send an update; it is held up.      below 20          10
 *     3. We give up, and read the book.                           10: below 20, so ours was not carried out
 *     4. We send the update again.              exactly 10        21
 *     5. Somebody else sends an update.         below 30          30
 *     6. Our first request arrives.             below 20: refused 30
 *
 * Had we read 20 in step 3, the update would be done. Had we read 30, nobody could know: either ours came first and was
 * replaced, or it never came. That is an error.
 *
 * A deletion leaves an item with its token and without the book, until no attempt can arrive any more. No write follows
 * it, so what is read tells its outcome.
 */
export class BookChange implements Write<StoredBook> {
  readonly #table: Table;
  readonly #id: number;
  readonly #changes: Partial<BookFields> | undefined;
  readonly #versions: Versions;

  /** The version that the client named, or the one that was read last. */
  seenVersion: string | undefined;

  /** @param changes - the fields of an update, `undefined` for a deletion */
  constructor(table: Table, id: number, changes: Partial<BookFields> | undefined, versions: Versions) {
    this.#table = table;
    this.#id = id;
    this.#changes = changes;
    this.#versions = versions;
  }

  /**
   * Makes the change.
   *
   * @returns what is stored then
   * @throws {BookNotFoundError | BookTooLargeError | VersionMismatchError | StorageUnavailableError}
   */
  async make(): Promise<StoredBook> {
    if (this.#versions?.length === 1) this.seenVersion = this.#versions[0];
    // Of several versions, a condition can name only the one that the book has.
    else if (this.#versions) this.#see(await this.#table.get(bookKey(this.#id), parseStoredBook));
    return this.#table.attempts.write(this);
  }

  async send({ writeToken, abortSignal }: Attempt, { lost }: Earlier): Promise<StoredBook> {
    const seen = this.seenVersion;
    // Tokens are made above those that were seen, unless these are a day ahead or from another program.
    const isAbove =
      seen === undefined ||
      // Stryker disable next-line EqualityOperator: they are never equal, because a new token has random bits
      writeToken > seen;
    const isExact = this.#versions !== undefined || lost.length > 0 || !isAbove;
    const stored = await this.#table.update(this.#makeInput(writeToken, isExact), parseStoredBook, abortSignal);
    const isDeleted = stored.book === undefined;
    if (stored.version === writeToken && isDeleted === (this.#changes === undefined)) return stored;
    throw new AttemptError('the response is not what was written');
  }

  async resolve({ sent, lost }: Earlier, refusal?: ConditionFailedError): Promise<StoredBook | undefined> {
    const found = await this.#table.get(bookKey(this.#id), parseStoredBook, refusal?.stored);
    if (found?.version !== undefined && sent.includes(found.version)) return found;
    if (lost.length > 0) this.#checkLost(lost, found);
    this.#see(found);
    return undefined;
  }

  /**
   * Checks that a lost attempt that is not stored was not carried out.
   *
   * @throws {StorageUnavailableError} when nobody can know
   */
  #checkLost(lost: readonly string[], found: StoredBook | undefined): void {
    // It may arrive after somebody creates the book.
    if (found === undefined) throw new StorageUnavailableError('an attempt may still arrive');
    const { version = '' } = found;
    // A deletion leaves an item that nothing replaces.
    const isUpdate = this.#changes !== undefined;
    // Nothing was written since the last look.
    const isUnchanged = version === this.seenVersion;
    // Only a higher token replaces another one.
    // Stryker disable next-line EqualityOperator: they are never equal, a book with the token of an attempt is the result
    const mayBeReplaced = lost.some((token) => token < version);
    if (isUpdate && !isUnchanged && mayBeReplaced) throw new StorageUnavailableError('others changed the book');
  }

  /** @param isExact - whether the book has to be in the seen version. Otherwise its token has to be below ours. */
  #makeInput(writeToken: string, isExact: boolean) {
    const seen = this.seenVersion;
    const isInVersion = seen === undefined ? 'attribute_not_exists(writeToken)' : 'writeToken = :seen';
    // Also true of a book without a token, of which a comparison is false.
    const condition = isExact ? isInVersion : 'NOT writeToken >= :new_writeToken';
    const set = { ...(this.#changes ?? { expiresAt: nowInSeconds() + maxLatenessSeconds }), writeToken };
    const removed = this.#changes ? [] : Object.keys(bookFields);
    const names = Object.keys(set);
    const assignments = `SET ${names.map((name) => `#${name} = :new_${name}`).join()}`;
    const removal = removed.length > 0 ? ` REMOVE ${removed.map((name) => `#${name}`).join()}` : '';
    return {
      Key: bookKey(this.#id),
      ConditionExpression: `attribute_exists(id) AND attribute_not_exists(expiresAt) AND ${condition}`,
      UpdateExpression: assignments + removal,
      ExpressionAttributeNames: attributeNames([...names, ...removed]),
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:new_${name}`, value])),
        ...(isExact && { ':seen': seen }), // The SDK leaves out `undefined`.
      },
      ReturnValues: 'ALL_NEW' as const,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
  }

  #see(found: StoredBook | undefined): void {
    this.seenVersion = requireBook(found, this.#versions, this.#changes).version;
  }
}

const nowInSeconds = () => Math.floor(Date.now() / 1000);

/**
 * Checks what was read of a book: 404 comes before 413, and 413 before 412 (specification 12.4).
 *
 * @param changes - the fields of an update, for the size of the changed book
 * @throws {BookNotFoundError | BookTooLargeError | VersionMismatchError}
 */
export function requireBook(found?: StoredBook, versions?: Versions, changes?: Partial<BookFields>): VersionedBook {
  const { book, version } = found ?? {};
  if (book === undefined) throw new BookNotFoundError();
  if (versions?.some((named) => named === version) ?? true) return { book, version };
  throw isTooLarge({ ...book, ...changes }) ? new BookTooLargeError() : new VersionMismatchError();
}
