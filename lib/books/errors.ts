import { namedError } from '../named-error.ts';

/** No book has the id. */
export class BookNotFoundError extends namedError('BookNotFoundError') {}

/** The book does not fit into an item of the table. */
export class BookTooLargeError extends namedError('BookTooLargeError') {}

/** The book is in none of the versions that the client named. Nothing was changed. */
export class VersionMismatchError extends namedError('VersionMismatchError') {}

/** The idempotency key belongs to a book with other fields. Nothing was stored. */
export class IdempotencyKeyUsedError extends namedError('IdempotencyKeyUsedError') {}

/** The database gave no usable response, or nobody can know whether a write was carried out. */
export class StorageUnavailableError extends namedError('StorageUnavailableError') {}

/** An operator has to set the counter of ids. It is missing, behind the ids of books, or at the highest id. */
export class CounterError extends namedError('CounterError') {}
