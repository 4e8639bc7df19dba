import { randomUUID } from 'node:crypto';
import { type BookFields, bookFields, type VersionedBook } from '../../books/book.ts';
import { BookNotFoundError, VersionMismatchError } from '../../books/errors.ts';
import { AttemptError, ItemTooLargeError } from '../connection/errors.ts';
import { pauseAfter } from '../table/attempts.ts';
import { bookKey } from '../table/keys.ts';
import { attributeNames, type Item } from '../table/stored-items.ts';
import type { Table } from '../table/table.ts';
import { maxWriteDelaySeconds } from '../table/write-delay.ts';
import { isTooLarge, parseStoredBook, type StoredBook } from './stored-book.ts';

/**
 * Updates or deletes a book, with optimistic locking ("Optimistic locking with version number", Amazon DynamoDB Developer
 * Guide):
 *
 * 1. A write reads the book, and replaces exactly the version that it read by its own. So at most one of its attempts is
 *    carried out, however late they arrive, and each may be made again.
 * 2. If what is stored has our version, the write is done; a refusal by it is a success that was lost. If others have
 *    changed the book, the write begins again.
 * 3. If others have changed it and an attempt is lost, that one may have been carried out before: nobody can know.
 *
 * A deletion leaves a tombstone, an item with its version and without the book. Nothing replaces it, so a deletion that
 * others preceded is known not to be carried out.
 *
 * @param changes - the fields of an update, `undefined` for a deletion
 * @param accepted - the versions that the client accepts, any by default
 * @returns what is stored then
 * @throws {BookNotFoundError | ItemTooLargeError | VersionMismatchError | StorageUnavailableError | OutcomeUnknownError}
 */
export async function changeBook(
  table: Table,
  id: number,
  changes: Partial<BookFields> | undefined,
  accepted: readonly string[] | undefined,
): Promise<StoredBook> {
  const find = (returned?: Item) => table.get(bookKey(id), parseStoredBook, returned);
  for (let refusals = 1; ; refusals += 1) {
    const { version: old } = requireBook(await find(), accepted, changes);
    const version = randomUUID();
    const { value, refusal, lost } = await table.write(async (abortSignal) => {
      const stored = await table.update(makeUpdate(id, changes, version, old), parseStoredBook, abortSignal);
      if (stored.version === version && (changes === undefined) === (stored.book === undefined)) return stored;
      throw new AttemptError('the response is not what was written');
    });
    if (value) return value;
    const found = await find(refusal?.stored);
    if (found?.version === version) return found;
    // While the book has the old version, an attempt may still arrive.
    if (lost && (changes || found?.version === old)) throw lost;
    await pauseAfter(refusals);
  }
}

/**
 * Makes the input of an update, or of a deletion when there are no changes.
 *
 * @param old - the version that the book has to have: `undefined` when another program stored it
 */
function makeUpdate(id: number, changes: Partial<BookFields> | undefined, version: string, old: string | undefined) {
  const condition =
    old === undefined
      ? { text: 'attribute_exists(id) AND NOT attribute_type(version, :string)', values: { ':string': 'S' } }
      : { text: 'version = :old', values: { ':old': old } };
  const expiresAt = Math.floor(Date.now() / 1000) + maxWriteDelaySeconds;
  const set = { ...(changes ?? { expiresAt }), version };
  const removed = changes ? [] : Object.keys(bookFields);
  const names = Object.keys(set);
  const assignments = `SET ${names.map((name) => `#${name} = :new_${name}`).join()}`;
  const removal = removed.length > 0 ? ` REMOVE ${removed.map((name) => `#${name}`).join()}` : '';
  return {
    Key: bookKey(id),
    ConditionExpression: condition.text,
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
  if (changes && isTooLarge({ ...book, ...changes })) throw new ItemTooLargeError();
  if (accepted?.every((each) => each !== version)) throw new VersionMismatchError();
  return { book, version };
}
