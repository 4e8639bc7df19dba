import { type BookFields, bookFields, type VersionedBook } from '../../books/book.ts';
import { BookNotFoundError, VersionMismatchError } from '../../books/errors.ts';
import { AttemptError, ItemTooLargeError } from '../connection/errors.ts';
import { bookKey } from '../table/keys.ts';
import { attributeNames, type Item } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';
import { maxWriteDelaySeconds } from '../table/versions.ts';
import { isTooLarge, parseStoredBook, type StoredBook } from './stored-book.ts';

/**
 * Updates or deletes a book, as {@link Write} says. A deletion leaves a tombstone: an item with its version and without the
 * book, until no attempt can arrive any more.
 *
 * @param changes - the fields of an update, `undefined` for a deletion
 * @param accepted - the versions that the client accepts, any by default
 * @returns what is stored then
 * @throws {BookNotFoundError | ItemTooLargeError | VersionMismatchError | StorageUnavailableError}
 */
export async function changeBook(
  table: Table,
  id: number,
  changes: Partial<BookFields> | undefined,
  accepted: readonly string[] | undefined,
): Promise<StoredBook> {
  const find = (returned?: Item) => table.get(bookKey(id), parseStoredBook, returned);
  const versionOf = (found: StoredBook | undefined) => requireBook(found, accepted, changes).version;
  // Of several versions, a condition can name only the one that the book has.
  const isOneOfSeveral = accepted !== undefined && accepted.length !== 1;
  const write = table.startWrite(isOneOfSeveral ? versionOf(await find()) : accepted?.[0]);
  for (;;) {
    const { value, refusal } = await write.attempt(async (version, abortSignal) => {
      const condition = accepted || write.needsSeen(version) ? inVersion(write.seen) : belowVersion;
      const stored = await table.update(makeUpdate(id, changes, version, condition), parseStoredBook, abortSignal);
      if (stored.version === version && (changes === undefined) === (stored.book === undefined)) return stored;
      throw new AttemptError('the response is not what was written');
    });
    if (value) return value;
    const found = await find(refusal?.stored);
    if (found && write.made(found.version)) return found;
    if (!found) write.checkNothingLost();
    else if (changes) write.checkNotReplaced(found.version); // A deletion is not replaced (sentence 8).
    write.seen = versionOf(found);
  }
}

interface Condition {
  readonly text: string;
  readonly values?: Readonly<Record<string, string>>;
}

/** The version of the book is below ours, or it has none: a comparison with a missing attribute is false. */
const belowVersion: Condition = { text: 'NOT version >= :new_version' };

/** Nothing was written since the book was read. */
function inVersion(version: string | undefined): Condition {
  if (version === undefined) return { text: 'attribute_not_exists(version)' };
  return { text: 'version = :seen', values: { ':seen': version } };
}

/** Makes the input of an update, or of a deletion when there are no changes. */
function makeUpdate(id: number, changes: Partial<BookFields> | undefined, version: string, condition: Condition) {
  const expiresAt = Math.floor(Date.now() / 1000) + maxWriteDelaySeconds;
  const set = { ...(changes ?? { expiresAt }), version };
  const removed = changes ? [] : Object.keys(bookFields);
  const names = Object.keys(set);
  const assignments = `SET ${names.map((name) => `#${name} = :new_${name}`).join()}`;
  const removal = removed.length > 0 ? ` REMOVE ${removed.map((name) => `#${name}`).join()}` : '';
  return {
    Key: bookKey(id),
    ConditionExpression: `attribute_exists(id) AND attribute_not_exists(expiresAt) AND ${condition.text}`,
    UpdateExpression: assignments + removal,
    ExpressionAttributeNames: attributeNames([...names, ...removed]),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:new_${name}`, value])),
      ...condition.values,
    },
    ReturnValues: 'ALL_NEW' as const,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

/**
 * Checks what was read of a book: 404 comes before 413, and 413 before 412 (specification 12.4).
 *
 * @param changes - the fields of an update, for the size of the changed book
 * @throws {BookNotFoundError | ItemTooLargeError | VersionMismatchError}
 */
export function requireBook(
  found?: StoredBook,
  accepted?: readonly string[],
  changes?: Partial<BookFields>,
): VersionedBook {
  const { book, version } = found ?? {};
  if (book === undefined) throw new BookNotFoundError();
  if (accepted === undefined || accepted.some((each) => each === version)) return { book, version };
  throw isTooLarge({ ...book, ...changes }) ? new ItemTooLargeError() : new VersionMismatchError();
}
