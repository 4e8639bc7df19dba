import { namedError } from '../named-error.ts';

/** No book has the id. */
export class BookNotFoundError extends namedError('BookNotFoundError') {}

/** The book is in none of the versions that the client named. Nothing was changed. */
export class VersionMismatchError extends namedError('VersionMismatchError') {}

/** The idempotency key belongs to a book with other fields. Nothing was stored. */
export class IdempotencyKeyUsedError extends namedError('IdempotencyKeyUsedError') {}
