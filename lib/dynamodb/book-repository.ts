import pLimit from 'p-limit';
import { type BookFields, bookFields, type CreatedBook, type VersionedBook } from '../books/book.ts';
import {
  BookNotFoundError,
  BookTooLargeError,
  CounterError,
  StorageUnavailableError,
  VersionMismatchError,
} from '../books/errors.ts';
import { type Attempt, attemptTimeoutMs, type Unsettled } from './attempts.ts';
import { AttemptError } from './errors.ts';
import { IdempotencyClaim } from './idempotency-claims.ts';
import { bookKey, counterKey } from './keys.ts';
import {
  attributeNames,
  type Item,
  isTooLarge,
  parseCounter,
  parseStoredBook,
  type StoredBook,
} from './stored-items.ts';
import type { Table } from './table.ts';
import { isSince, tokenLimit } from './write-token.ts';

/** The versions that a book may have; any when absent. */
type Versions = readonly string[] | undefined;

/** What is left of a deleted book refuses late attempts for this long. */
const deletedSeconds = 24 * 60 * 60;

const setLastId = 'set its lastId to the highest id that was ever given';

/**
 * The books one by one. Each operation throws a {@link StorageUnavailableError} when the database gives no usable response,
 * or nobody can know whether a write was carried out; with versions, also a {@link VersionMismatchError}.
 *
 * An attempt at a write may arrive after it was given up, and must then do nothing. So each attempt has a token, which
 * becomes the version of the book, and a condition:
 *
 * - A create needs an id that no book has or had. A deletion leaves an item without the book.
 * - The first attempt at an update or a deletion needs exactly the client's version, or two last writes that are older than
 *   its own deadline: it never undoes a write that began later, even if a slow one that began before has replaced that.
 * - Every later attempt needs exactly the version that was read in between, and raises the `fence` of the item, which refuses
 *   the attempts before it for good.
 *
 * After a lost response, the item tells what happened: it has a token of ours, or no write since ours began can have
 * replaced it ({@link mayBeReplaced}), or nobody can know.
 */
export class BookRepository {
  readonly #table: Table;
  readonly #drawing = pLimit(1);
  #drawn: number[] = [];

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Stores a book under a new id; with an idempotency key only once, however often it is called within 7 days. The claim of
   * the key is stored together with the book, so that there is never one without the other.
   *
   * @throws {BookTooLargeError | IdempotencyKeyUsedError | CounterError}
   */
  async create(fields: BookFields, idempotencyKey?: string): Promise<CreatedBook> {
    if (isTooLarge(fields)) throw new BookTooLargeError();
    const claim = idempotencyKey === undefined ? undefined : new IdempotencyClaim(idempotencyKey, fields);
    let id = await this.#drawId();
    const created = (version: string, replayed = false) => ({ book: { id, ...fields }, version, replayed });

    const send = async (attempt: Attempt) => {
      const Item = { ...bookKey(id), ...fields, writeToken: attempt.token };
      const book = { Item, ConditionExpression: 'attribute_not_exists(id)' };
      await this.#table.put(claim ? [claim.put(id, attempt.token), book] : [book], attempt);
      return created(attempt.token);
    };
    const settle = async ({ lost, refusal }: Unsettled): Promise<CreatedBook | undefined> => {
      const stored = await claim?.find(this.#table, refusal?.stored);
      const isUnfinished = stored && !stored.done && !(refusal && stored.bookId === id);
      if (stored) id = stored.bookId;
      if (isUnfinished) return undefined;
      if (stored) return created(stored.writeToken, !lost.includes(stored.writeToken));
      const found = claim ? undefined : await this.#find(id);
      const writeToken = found && ownToken(found, lost);
      if (writeToken !== undefined) return created(writeToken);
      if (found && lost.length > 0) throw new StorageUnavailableError('others changed the book');
      if (!refusal) return undefined;
      throw new CounterError(`the counter drew id ${id}, which a book has already: ${setLastId}`);
    };
    return this.#table.attempts.make<CreatedBook>(send, settle);
  }

  /** @throws {BookNotFoundError} */
  async get(id: number): Promise<VersionedBook> {
    return check(await this.#find(id));
  }

  /** Changes the given fields of a book. @returns the whole book @throws {BookNotFoundError | BookTooLargeError} */
  async update(id: number, changes: Partial<BookFields>, versions?: Versions): Promise<VersionedBook> {
    if (isTooLarge(changes)) {
      await this.get(id);
      throw new BookTooLargeError();
    }
    if (Object.keys(changes).length === 0) return check(await this.#find(id), versions);
    return check(await this.#change(id, versions, changes));
  }

  /** Removes a book. Its tokens stay for a day, as the answer to a lost response. @throws {BookNotFoundError} */
  async delete(id: number, versions?: Versions): Promise<void> {
    const expiresAt = Math.floor(Date.now() / 1000) + deletedSeconds;
    await this.#change(id, versions, { expiresAt }, Object.keys(bookFields));
  }

  /** Sets some attributes of a book, and removes all fields or none, while it has one of the versions. */
  async #change(id: number, versions: Versions, set: object, removed: readonly string[] = []) {
    const isRemoval = removed.length > 0;
    let seen: Partial<StoredBook> | undefined = versions && { version: versions[0] };
    let fence: string | undefined;
    if (versions && versions.length !== 1) {
      seen = await this.#find(id);
      check(seen, versions, set);
    }

    const send = async (attempt: Attempt) => {
      const { token } = attempt;
      const isExact = seen && (versions || fence || !isOrdinary(seen, token));
      const condition = isExact ? exactly(seen?.version) : inTime(token);
      const entries = Object.entries({ ...set, ...(fence && { fence }), writeToken: token });
      const assignments = entries.map(([name]) => `, #${name} = :${name}`).join('');
      const removal = isRemoval ? ` REMOVE ${removed.map((name) => `#${name}`).join()}` : '';
      const values = entries.map(([name, value]) => [`:${name}`, value]);
      const input = {
        Key: bookKey(id),
        ConditionExpression: condition.expression,
        UpdateExpression: `SET previousWriteToken = if_not_exists(writeToken, :writeToken)${assignments}${removal}`,
        ExpressionAttributeNames: attributeNames([...entries.map(([name]) => name), ...removed]),
        ExpressionAttributeValues: { ...Object.fromEntries(values), ...condition.values },
        ReturnValues: 'ALL_NEW' as const,
      };
      const stored = await this.#table.update(input, parseStoredBook, attempt);
      if (stored.version === token && (stored.book === undefined) === isRemoval) return stored;
      throw new AttemptError('the response is not what was written', { mayBeDone: true });
    };
    const settle = async ({ lost }: Unsettled) => {
      const found = await this.#find(id);
      const isOurs = found && ownToken(found, lost) !== undefined;
      if (isOurs && (found.book === undefined) === isRemoval) return found;
      // A deletion is the last write of a book: another one would be that of others.
      if (found && !isRemoval && mayBeReplaced(found, lost, seen)) {
        throw new StorageUnavailableError('others changed the book');
      }
      check(found, versions, set);
      seen = found;
      // Others may have raised the fence higher.
      if (lost.length > 0) fence = [found?.fence ?? '', ...lost].toSorted().at(-1);
      return undefined;
    };
    return this.#table.attempts.make<StoredBook>(send, settle);
  }

  /** Draws a new id. Creates that wait for one share the next draw, which saves a third of an import (docs/decisions.md). */
  #drawId(): Promise<number> {
    return this.#drawing(async () => {
      if (this.#drawn.length === 0) this.#drawn = await this.#drawIds(1 + this.#drawing.pendingCount);
      return this.#drawn.shift() as number;
    });
  }

  /** An `ADD` that is carried out twice leaves a gap between ids, and nothing worse. */
  #drawIds(count: number): Promise<number[]> {
    const max = Number.MAX_SAFE_INTEGER - count;
    const inBounds = 'lastId BETWEEN :zero AND :max';
    let condition = inBounds;
    const parse = (item: Item) => {
      const last = parseCounter(item, count);
      return Array.from({ length: count }, (_, index) => last - count + 1 + index);
    };
    const send = (attempt: Attempt) => {
      const input = {
        Key: counterKey,
        UpdateExpression: 'ADD lastId :count',
        ConditionExpression: condition,
        ExpressionAttributeValues: { ':count': count, ':zero': 0, ':max': max },
        ReturnValues: 'UPDATED_NEW' as const,
      };
      return this.#table.update(input, parse, attempt);
    };
    return this.#table.attempts.make(send, async ({ refusal }) => {
      const lastId = refusal && (await this.#table.readLastId());
      if (lastId && lastId > max) throw new CounterError(`the counter is at 2^53-1, the highest id: ${setLastId}`);
      // An empty table has no counter yet, and this makes it.
      if (lastId === 0) condition = `attribute_not_exists(lastId) OR ${inBounds}`;
      return undefined;
    });
  }

  #find(id: number): Promise<StoredBook | undefined> {
    return this.#table.get(bookKey(id), parseStoredBook);
  }
}

/** The condition that a book is in exactly one version, or was stored by other means and never updated. */
function exactly(version: string | undefined) {
  if (version !== undefined) return { expression: 'writeToken = :seen', values: { ':seen': version } };
  return { expression: 'attribute_exists(id) AND attribute_not_exists(writeToken)', values: {} };
}

/** The condition that there is a book, and no write after the deadline of the attempt with this token. */
function inTime(token: string) {
  const isLast = 'writeToken < :deadline AND NOT previousWriteToken >= :deadline';
  return {
    expression: `attribute_not_exists(expiresAt) AND ${isLast} AND NOT fence >= :writeToken`,
    values: { ':deadline': tokenLimit(token, attemptTimeoutMs) },
  };
}

/** Whether {@link inTime} holds of a book. */
function isOrdinary({ version, previousVersion = '', fence = '' }: Partial<StoredBook>, token: string) {
  const deadline = tokenLimit(token, attemptTimeoutMs);
  return version && version < deadline && previousVersion < deadline && fence < token;
}

/** @throws what a book that was found, or not, means for changes to one of its versions (specification 12.6) */
function check(found: Partial<StoredBook> | undefined, versions?: Versions, changes: object = {}): VersionedBook {
  const { book, version } = found ?? {};
  if (book === undefined) throw new BookNotFoundError();
  if (versions?.some((named) => named === version) ?? true) return { book, version };
  throw isTooLarge({ ...book, ...changes }) ? new BookTooLargeError() : new VersionMismatchError();
}

/** @returns the token among ours that is the last of a book, or the one before */
const ownToken = ({ version, previousVersion }: StoredBook, ours: readonly string[]) =>
  ours.find((token) => token === version || token === previousVersion);

/**
 * Whether one of our lost updates may have been carried out and replaced twice since. Otherwise the version before the last
 * one is either ours, or the one that our update needed, or older than ours: a write after ours compared its deadline with
 * our token, so its own token is at most the timeout of an attempt older.
 */
function mayBeReplaced({ previousVersion }: StoredBook, lost: readonly string[], needed?: Partial<StoredBook>) {
  const isNeeded = needed && previousVersion === needed.version;
  return lost[0] !== undefined && !isNeeded && isSince(previousVersion, tokenLimit(lost[0], -attemptTimeoutMs));
}
