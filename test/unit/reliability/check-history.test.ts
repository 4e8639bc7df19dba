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
const created = create(emma, 1, 2);
const changed = { ...emma, year: 2 };
const dune1 = { ...dune, id: 1 };

test('a history of every operation is possible', () => {
  const history = [
    list([], 0, 1),
    ...[create(emma, 2, 4), create(dune, 3, 5), get(1, emma, 6, 7)],
    ...[update(emma, 2, 8, 9), get(1, changed, 10, 11)],
    ...[
      { ...create(emma, 10, 11), replayed: true },
      { ...update(emma, 1.5, 10, 11), status: 400, book: undefined },
    ],
    ...[remove(2, 12, 13), get(2, undefined, 14, 15), remove(2, 16, 17, 404)],
    list([changed]),
  ];

  expect(checkHistory(history)).toEqual([]);
});

const comingAndGoing = [update(emma, 2, 3, noResponse), get(1, changed, 5, 6), get(1, emma, 7, 8)];
const oneTagTwice = [
  { ...update(emma, 2, 3, 4), tag: '1' },
  { ...get(1, emma, 5, 6), tag: '1' },
];
const wrongVersion = [
  { ...update(emma, 2, 3, 4), tag: '2' },
  { ...update(emma, 3, 5, 6), ifMatch: ['1'] },
];
const refused = { ...update(emma, 2, 3, 4), status: 412, book: undefined, ifMatch: ['1'] };
const incomplete: Operation = { type: 'list', limit: 2, books: [emma], invoked: 5, returned: 6, status: 200 };
const otherReplay = { ...create(emma, 3, 4), replayed: true, book: changed };
const tooLate = [{ ...update(emma, 2, 3, noResponse), deadline: 5 }, update(emma, 3, 6, 7)];
const replacedTwice = [...tooLate, update(emma, 4, 4, 8), update(emma, 5, 4, 9)];
const notTooLarge = { ...update(emma, 2, 3, 4), status: 413, book: undefined };
const updates = [2, 3].map((year) => update(emma, year, 3, 20));
const readings = [2, 3, 2].map((year, index) => get(1, { ...emma, year }, 5 + 2 * index, 6 + 2 * index));

test('a history is possible in which only a repeated create shows the tag that an update names', () => {
  const replay = { ...create(emma, 1, 4), replayed: true, tag: '1' };
  const conditional = { ...update(emma, 2, 5, 6), tag: '2', ifMatch: ['1'] };

  expect(checkHistory([create(emma, 1, noResponse), replay, conditional, list([changed])])).toEqual([]);
});

test('a history is possible with an update that shows a later one, as after a lost response', () => {
  const later = { ...update(emma, 2, 3, 8), book: { ...changed, author: 'second' } };

  expect(checkHistory([created, later, update({ ...emma, author: 'second' }, 2, 4, 5)])).toEqual([]);
});

test.each<[string, Operation[], ...Book[][]]>([
  ['a create', [create(emma, 1, noResponse)], [], [emma]],
  ['an update', [created, update(emma, 2, 3, noResponse)], [emma], [changed]],
  ['a deletion', [created, remove(1, 3, noResponse)], [emma], []],
])(
  'a history with %s without a response is possible, whether it was carried out or not',
  (_name, history, ...lists) => {
    for (const books of lists) expect(checkHistory([...history, list(books)])).toEqual([]);
  },
);

test.each<[violation: string, operations: Operation[], stored: Book[], expected: RegExp]>([
  ['an acknowledged book that is lost', [], [], /no order/],
  ['a book that nobody created', [], [emma, dune], /no order.*book 2/],
  ['a phantom that only a read saw', [get(2, dune, 3, 4)], [emma], /no order.*book 2/],
  ['an id for two books', [create(dune1, 3, 4)], [emma], /no order/],
  ['the id of a deleted book', [remove(1, 3, 4), create(dune1, 5, 6)], [dune1], /no order/],
  ['a create that was carried out twice', [], [emma, { ...emma, id: 2 }], /no order/],
  ['an acknowledged update that is lost', [update(emma, 2, 3, 4)], [emma], /no order/],
  ['half of an update', [update({ ...emma, author: 'second' }, 2, 3, noResponse)], [changed], /no order/],
  ['a deleted book that is back', [remove(1, 3, 4)], [emma], /no order/],
  ['a false "not found"', [get(1, undefined, 3, 4)], [emma], /no order/],
  ['a page without one of its books', [create(dune, 3, 4), incomplete], [emma, dune], /no order/],
  ['another response to a repeated create', [otherReplay], [emma], /no order/],
  ['a stale read', [update(emma, 2, 3, 4), get(1, emma, 5, 6)], [changed], /no order/],
  ['an update that comes and goes', comingAndGoing, [changed], /no order/],
  ['two orders of two updates', [...updates, ...readings], [changed], /no order/],
  ['two contents with one entity tag', oneTagTwice, [emma], /two contents have the tag 1/],
  ['an update of another version', wrongVersion, [{ ...emma, year: 3 }], /no order/],
  ['an update that was refused and carried out', [refused], [changed], /no order/],
  ['an update that undoes one that began after its deadline', tooLate, [changed], /no order/],
  ['an update that undoes one that slower ones had replaced', replacedTwice, [changed], /no order/],
  ['an update that was refused as too large and is not', [notTooLarge], [emma], /no order/],
  ['a list out of order', [create(dune, 3, 4)], [dune, emma], /ascending order/],
  ['a book twice in a list', [], [emma, emma], /ascending order/],
  ['an error of another kind', [{ ...get(1, undefined, 3, 4), status: 500 }], [emma], /got 500/],
])('the violation is found in a history: %s', (_violation, operations, stored, expected) => {
  const history = [created, ...operations, list(stored)];

  expect(checkHistory(history)).toContainEqual(expect.stringMatching(expected));
});
