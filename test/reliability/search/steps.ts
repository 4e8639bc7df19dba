import type { BookFilter } from '../../../lib/books/book-filter.ts';
import { aBook } from '../../support/a-book.ts';
import type { Step } from './small-world.ts';

const id = 1;
export const update: Step = (year) => ({ type: 'update', id, changes: { year } });
export const updateFirst: Step = (year, { first }) => ({ type: 'update', id, changes: { year }, ifMatch: [first] });
export const updateOwn: Step = (year, { own }) => ({ type: 'update', id, changes: { year }, ifMatch: [own] });
export const updateEither: Step = (year, { first, own }) => ({
  type: 'update',
  id,
  changes: { year },
  ifMatch: [own, first, '-'],
});
export const remove: Step = () => ({ type: 'delete', id });
export const removeFirst: Step = (_, { first }) => ({ type: 'delete', id, ifMatch: [first] });
export const create: Step = (number) => ({ type: 'create', fields: aBook({ title: `book ${number}` }) });
export const createWithKey: Step = () => ({ type: 'create', fields: aBook({ title: 'with a key' }), key: 'key' });
/** Of the book that is created next. */
export const updateNext: Step = (year) => ({ type: 'update', id: 2, changes: { year } });
export const removeNext: Step = () => ({ type: 'delete', id: 2 });
/** The whole list. */
export const list: Step = () => ({ type: 'list' });
export const listAfter =
  (after: number): Step =>
  () => ({ type: 'list', after });
export const page =
  (limit: number, after = 0): Step =>
  () => ({ type: 'list', limit, after });
/** The books with a part of a title, or with a year: all of it, or a page of it. Updates change the year alone. */
export const find =
  (filter: BookFilter, limit?: number, after = 0): Step =>
  () => ({ type: 'list', after, filter, ...(limit !== undefined && { limit }) });
export const updateOf =
  (bookId: number): Step =>
  (year) => ({ type: 'update', id: bookId, changes: { year } });
export const removeOf =
  (bookId: number): Step =>
  () => ({ type: 'delete', id: bookId });
/** Two of these are too large for one item. */
const large = 'x'.repeat(250_000);
export const enlargeTitle: Step = () => ({ type: 'update', id, changes: { title: large } });
export const enlargeAuthor: Step = () => ({ type: 'update', id, changes: { author: large } });
export const emptyTitle: Step = () => ({ type: 'update', id, changes: { title: '' } });
