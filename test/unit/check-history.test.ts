import { describe, expect, test } from 'vitest';
import type { Book } from '../../lib/books/book.ts';
import { checkHistory } from '../reliability/crash/check-history.ts';
import type { Operation } from '../reliability/crash/history.ts';

const noResponse = Number.POSITIVE_INFINITY;

describe('checkHistory', () => {
  const emma: Book = { id: 1, title: 'Emma', author: 'first', year: 1 };
  const dune: Book = { id: 2, title: 'Dune', author: 'first', year: 1 };

  const create = ({ id, ...fields }: Book, invoked: number, returned: number): Operation => {
    const responded = returned < noResponse && { book: { id, ...fields } };
    return { type: 'create', fields, invoked, returned, status: responded ? 201 : 0, ...responded };
  };
  const get = (id: number, book: Book | undefined, invoked: number, returned: number): Operation => ({
    type: 'get',
    id,
    book,
    invoked,
    returned,
    status: book ? 200 : 404,
  });
  const update = (book: Book, year: number, invoked: number, returned: number): Operation => ({
    type: 'update',
    id: book.id,
    changes: { author: book.author, year },
    invoked,
    returned,
    status: returned < noResponse ? 200 : 503,
    ...(returned < noResponse && { book: { ...book, year } }),
  });
  const remove = (id: number, invoked: number, returned: number, status = 200): Operation => ({
    type: 'delete',
    id,
    invoked,
    returned,
    status: returned < noResponse ? status : 0,
  });
  const list = (books: Book[], invoked = 100, returned = 101): Operation => ({
    type: 'list',
    books,
    invoked,
    returned,
    status: 200,
  });
  const created = create(emma, 1, 2);
  const changed = { ...emma, year: 2 };

  test.each<[string, Operation[]]>([
    [
      'every operation',
      [
        list([], 0, 1),
        create(emma, 2, 4),
        create(dune, 3, 5),
        get(1, emma, 6, 7),
        update(emma, 2, 8, 9),
        get(1, changed, 10, 11),
        remove(2, 12, 13),
        get(2, undefined, 14, 15),
        remove(2, 16, 17, 404),
        list([changed]),
      ],
    ],
    ['a create without a response, in vain', [create(emma, 1, noResponse), list([])]],
    ['a create without a response', [create(emma, 1, noResponse), list([emma])]],
    ['an update without a response, in vain', [created, update(emma, 2, 3, noResponse), list([emma])]],
    ['an update without a response', [created, update(emma, 2, 3, noResponse), list([changed])]],
    ['a deletion without a response, in vain', [created, remove(1, 3, noResponse), list([emma])]],
    ['a deletion without a response', [created, remove(1, 3, noResponse), list([])]],
  ])('finds nothing wrong with %s', (_name, history) => {
    expect(checkHistory(history)).toEqual([]);
  });

  test.each<[violation: string, history: Operation[], expected: RegExp]>([
    ['an acknowledged book that is lost', [created, list([])], /book 1 was acknowledged.* lost/],
    ['a book that nobody created', [created, list([emma, dune])], /book 2 is a phantom/],
    ['a phantom that only a read saw', [get(2, dune, 1, 2), list([])], /book 2 is a phantom/],
    ['an id for two books', [created, create({ ...dune, id: 1 }, 3, 4), list([emma])], /id 1 was used/],
    [
      'the id of a deleted book, used again',
      [created, remove(1, 3, 4), create({ ...dune, id: 1 }, 5, 6), list([{ ...dune, id: 1 }])],
      /id 1 was used twice/,
    ],
    [
      'a create that was carried out twice',
      [created, list([emma, { ...emma, id: 2 }])],
      /"Emma" was created twice/,
    ],
    ['an acknowledged update that is lost', [created, update(emma, 2, 3, 4), list([emma])], /no order/],
    [
      'half of an update',
      [created, update({ ...emma, author: 'second' }, 2, 3, noResponse), list([changed])],
      /no order/,
    ],
    ['a deleted book that is back', [created, remove(1, 3, 4), list([emma])], /no order/],
    ['a false "not found"', [created, get(1, undefined, 3, 4), list([emma])], /no order/],
    ['a stale read', [created, update(emma, 2, 3, 4), get(1, emma, 5, 6), list([changed])], /no order/],
    [
      'an update without a response that comes and goes',
      [created, update(emma, 2, 3, noResponse), get(1, changed, 5, 6), get(1, emma, 7, 8), list([changed])],
      /no order/,
    ],
    [
      'two orders of two updates',
      [
        created,
        update(emma, 2, 3, 20),
        update(emma, 3, 3, 20),
        get(1, changed, 5, 6),
        get(1, { ...emma, year: 3 }, 7, 8),
        get(1, changed, 9, 10),
        list([changed]),
      ],
      /no order/,
    ],
    ['a list out of order', [created, create(dune, 3, 4), list([dune, emma])], /ascending order/],
    ['a book twice in a list', [created, list([emma, emma])], /ascending order/],
    ['an error of another kind', [{ ...get(1, undefined, 1, 2), status: 500 }, list([])], /got 500/],
    ['no list at all', [created], /no list/],
  ])('sees %s', (_violation, history, expected) => {
    expect(checkHistory(history)).toContainEqual(expect.stringMatching(expected));
  });
});
