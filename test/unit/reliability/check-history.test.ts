import { expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { checkHistory, type Operation } from '../../reliability/check-history.ts';
import { aBook } from '../../support/a-book.ts';

const noResponse = Number.POSITIVE_INFINITY;

const emma: Book = { id: 1, ...aBook({ title: 'Emma', author: 'first', year: 1 }) };
const dune: Book = { id: 2, ...aBook({ title: 'Dune', author: 'first', year: 1 }) };

const create = ({ id, ...fields }: Book, invoked: number, returned: number): Operation => {
  const response = returned < noResponse ? { status: 201, book: { id, ...fields } } : { status: 0 };
  return { type: 'create', fields, invoked, returned, ...response };
};
const get = (id: number, book: Book | undefined, invoked: number, returned: number): Operation => {
  return { type: 'get', id, book, invoked, returned, status: book ? 200 : 404 };
};
const update = (book: Book, year: number, invoked: number, returned: number): Operation => {
  const changes = { author: book.author, year };
  const response = returned < noResponse ? { status: 200, book: { ...book, year } } : { status: 503 };
  return { type: 'update', id: book.id, changes, invoked, returned, ...response };
};
const remove = (id: number, invoked: number, returned: number, status = 200): Operation => {
  return { type: 'delete', id, invoked, returned, status: returned < noResponse ? status : 0 };
};
const list = (books: Book[], invoked = 100, returned = 101): Operation => {
  return { type: 'list', books, invoked, returned, status: 200 };
};
/** A list of the books of a year. */
const find = (year: number, books: Book[], invoked: number): Operation => {
  return { ...list(books, invoked, invoked + 1), filter: { year, title: 'Emma' } } as Operation;
};
const created = create(emma, 1, 2);
const changed = { ...emma, year: 2 };
const dune1 = { ...dune, id: 1 };

test('a history of every operation is possible', () => {
  const history = [
    list([], 0, 1),
    create(emma, 2, 4),
    create(dune, 3, 5),
    get(1, emma, 6, 7),
    find(2, [], 6),
    find(1, [emma], 6),
    find(1, [], 8),
    find(2, [changed], 8),
    update(emma, 2, 8, 9),
    get(1, changed, 10, 11),
    { ...create(emma, 10, 11), replayed: true },
    { ...update(emma, 1.5, 10, 11), status: 400, book: undefined },
    remove(2, 12, 13),
    get(2, undefined, 14, 15),
    remove(2, 16, 17, 404),
    list([changed]),
  ];

  expect(checkHistory(history)).toEqual([]);
});

const oneTagTwice = [
  { ...update(emma, 2, 3, 4), tag: '1' },
  { ...get(1, emma, 5, 6), tag: '1' },
];
const wrongVersion = [
  { ...update(emma, 2, 3, 4), tag: '2' },
  { ...update(emma, 3, 5, 6), ifMatch: ['1'] },
];
const otherReplay = { ...create(emma, 3, 4), replayed: true, book: changed };
const tooLate = [{ ...update(emma, 2, 3, noResponse), deadline: 5 }, update(emma, 3, 6, 7)];
const withLater = { ...update(emma, 2, 3, 8), book: { ...changed, author: 'second' } };
const notTooLarge = { ...update(emma, 2, 3, 4), status: 413, book: undefined };

test('a history is possible in which only a repeated create shows the tag that an update names', () => {
  const replay = { ...create(emma, 1, 4), replayed: true, tag: '1' };
  const conditional = { ...update(emma, 2, 5, 6), tag: '2', ifMatch: ['1'] };

  expect(checkHistory([create(emma, 1, noResponse), replay, conditional, list([changed])])).toEqual([]);
});

test('a history with an update without a response is possible, whether it was carried out or not', () => {
  for (const book of [emma, changed]) {
    expect(checkHistory([created, update(emma, 2, 3, noResponse), list([book])])).toEqual([]);
  }
});

test.each<[violation: string, operations: Operation[], stored: Book[], expected: RegExp]>([
  ['an acknowledged book that is lost', [], [], /no order/],
  ['a book that nobody created', [], [emma, dune], /no order.*book 2/],
  ['the id of a deleted book', [remove(1, 3, 4), create(dune1, 5, 6)], [dune1], /no order/],
  ['another response to a repeated create', [otherReplay], [emma], /no order/],
  ['a stale read', [update(emma, 2, 3, 4), get(1, emma, 5, 6)], [changed], /no order/],
  ['two contents with one entity tag', oneTagTwice, [emma], /two contents have the tag 1/],
  ['an update of another version', wrongVersion, [{ ...emma, year: 3 }], /no order/],
  ['an update that undoes one that began after its deadline', tooLate, [changed], /no order/],
  [
    'an update whose response has a later one, too',
    [withLater, update({ ...emma, author: 'second' }, 2, 4, 5)],
    [{ ...changed, author: 'second' }],
    /no order/,
  ],
  ['an update that was refused as too large and is not', [notTooLarge], [emma], /no order/],
  ['a list out of order', [create(dune, 3, 4)], [dune, emma], /ascending order/],
  ['a book twice in a list', [], [emma, emma], /ascending order/],
  ['a list without a book that matches', [find(1, [], 3)], [emma], /no order of the operations on book 1/],
  ['a list with a book of another kind', [find(2, [emma], 3)], [emma], /has book 1 of another kind/],
  ['an error of another kind', [{ ...get(1, undefined, 3, 4), status: 500 }], [emma], /got 500/],
])('the violation is found in a history: %s', (_violation, operations, stored, expected) => {
  const history = [created, ...operations, list(stored)];

  expect(checkHistory(history)).toContainEqual(expect.stringMatching(expected));
});
