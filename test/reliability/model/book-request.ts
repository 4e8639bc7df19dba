import fc from 'fast-check';
import type { BookFields } from '../../../lib/books/book.ts';
import { anyText } from '../../support/any-text.ts';

/** A request body together with what it means. */
interface Body {
  readonly text: string;
  readonly isBase64Encoded: boolean;
  /** The fields that it holds; absent when it cannot be parsed into them. */
  readonly fields: Partial<BookFields> | undefined;
}

/** How a client shows that it may: with a good token of either kind of HMAC, with none, or with a bad one. */
export type Access = 'HS256' | 'HS384' | 'HS512' | 'missing' | 'invalid';

/** The entity tags in `If-Match` or `If-None-Match`, and how they are written. */
export interface Precondition {
  readonly header: string;
  /** The tags that it names, `*` for any, each with its quotation marks. */
  readonly strong: readonly string[] | '*';
  readonly weak: readonly string[];
}

/** What a client asks of the books. A text for an id is one that no book can have. */
export type BookRequest = { readonly access: Access } & (
  | { readonly type: 'create'; readonly body: Body; readonly key?: string | undefined }
  | {
      readonly type: 'get' | 'delete';
      readonly id: number | string;
      readonly precondition?: Precondition | undefined;
    }
  | {
      readonly type: 'update';
      readonly id: number | string;
      readonly body: Body;
      readonly precondition?: Precondition | undefined;
    }
  /** `limit` is Infinity for the whole list. */
  | { readonly type: 'list'; readonly after: number | string; readonly limit: number }
);

/** A body for POST /token. */
export interface Login {
  readonly text: (username: string, password: string) => string;
  readonly credentials: 'right' | 'wrong' | 'unreadable';
}

/**
 * Which book, before it is known which there are: one that was created earlier, counted from the first, or one of the
 * ids that come next; or a text that is no id.
 */
export type IdChoice = { readonly created: number } | { readonly next: number } | { readonly text: string };

/** An entity tag, before it is known which the book has: the last one that the client saw, one before it, or no book's. */
type TagChoice = 'last seen' | 'seen earlier' | 'weak last seen' | 'foreign';

/** A list of tags, or a header that is written out. */
export type PreconditionChoice = readonly TagChoice[] | { readonly header: string };

/** A request for a book that is yet to be chosen. */
export type RequestChoice = { readonly access: Access } & (
  | { readonly type: 'create'; readonly body: Body; readonly key?: string | undefined }
  | {
      readonly type: 'get' | 'delete';
      readonly id: IdChoice;
      readonly precondition?: PreconditionChoice | undefined;
    }
  | {
      readonly type: 'update';
      readonly id: IdChoice;
      readonly body: Body;
      readonly precondition?: PreconditionChoice | undefined;
    }
  | { readonly type: 'list'; readonly after: IdChoice; readonly limit: number }
);

/** More text than a book may have, by one byte. */
const tooLong = 'x'.repeat(400 * 1024 + 1);

const anyYear = fc.oneof(fc.integer({ min: -3000, max: 3000 }), fc.maxSafeInteger());

/** Few different ones, so that clients meet; any of them now and then. */
const anyFields = fc.record(
  { title: fc.oneof(fc.constantFrom('', 'Emma', 'Dune'), anyText), author: anyText, year: anyYear },
  { requiredKeys: [] },
);

/** Members that are ignored. */
const anyExtra = fc.constantFrom({}, {}, { id: 7 }, { isbn: null, Title: 'x' });

const readableBody: fc.Arbitrary<Body> = fc
  .record({ fields: anyFields, extra: anyExtra, isBase64Encoded: fc.boolean() })
  .map(({ fields, extra, isBase64Encoded }) => encode({ ...extra, ...fields }, isBase64Encoded, fields));

const oversizedBody: fc.Arbitrary<Body> = fc
  .constant({ title: tooLong })
  .map((fields) => encode(fields, false, fields));

const unreadableBody: fc.Arbitrary<Body> = fc
  .constantFrom(
    ...['', '{', '[]', 'null', '1', '"x"', '{"year":1}x', '{"title":"\\ud800"}', '{"title":null}'],
    ...['{"year":"1"}', '{"year":1.5}', '{"year":1e400}', '{"year":9007199254740992}', '{"author":["x"]}'],
  )
  .map((text) => ({ text, isBase64Encoded: false, fields: undefined }));

const undecodableBody = fc.constant<Body>({
  text: Buffer.from([0x7b, 0xc3, 0x28, 0x7d]).toString('base64'),
  isBase64Encoded: true,
  fields: undefined,
});

const anyBody = fc.oneof(
  { weight: 40, arbitrary: readableBody },
  { weight: 6, arbitrary: unreadableBody },
  { weight: 2, arbitrary: undecodableBody },
  { weight: 1, arbitrary: oversizedBody },
);

const repeatedBody = fc
  .constantFrom<Partial<BookFields>>({}, { title: 'Dune' }, { title: 'Dune', author: '', year: 0 })
  .map((fields) => encode(fields, false, fields));

const anyId: fc.Arbitrary<IdChoice> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ created: fc.nat({ max: 5 }) }) },
  { weight: 3, arbitrary: fc.record({ next: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      text: fc.constantFrom('0', '-1', '01', '1.0', '1e0', 'x', '', '9007199254740992'),
    }),
  },
);

/** Few keys, so that they are used again, with the same fields and with others. */
const anyKey = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 5, arbitrary: fc.constantFrom('one', '"two"', '3'.repeat(255)) },
  { weight: 1, arbitrary: fc.constantFrom('', 'a b', 'ż', '4'.repeat(256), 'tab\t') },
);

const anyPrecondition: fc.Arbitrary<PreconditionChoice | undefined> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 5, arbitrary: fc.constant<TagChoice[]>(['last seen']) },
  {
    weight: 3,
    arbitrary: fc.array(
      fc.constantFrom<TagChoice>('last seen', 'seen earlier', 'weak last seen', 'foreign'),
      { minLength: 1, maxLength: 3 },
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('*', '', ',', 'unquoted', '"open', 'w/"x"', '"a" "b"', '*, "x"')
      .map((header) => ({ header })),
  },
);

const goodAccess = fc.constantFrom<Access>('HS256', 'HS384', 'HS512');

const anyAccess = fc.oneof(
  { weight: 20, arbitrary: goodAccess },
  { weight: 1, arbitrary: fc.constantFrom<Access>('missing', 'invalid') },
);

/** A request that works on one book. */
export const oneBookRequest: fc.Arbitrary<RequestChoice> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('create' as const),
      access: anyAccess,
      // The same fields again now and then, as a client that repeats a request sends them.
      body: fc.oneof(anyBody, repeatedBody),
      key: anyKey,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('update' as const),
      access: anyAccess,
      id: anyId,
      body: anyBody,
      precondition: anyPrecondition,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('get' as const, 'delete' as const),
      access: anyAccess,
      id: anyId,
      precondition: anyPrecondition,
    }),
  },
);

/** A request for the list, or for a page of it. */
export const listRequest: fc.Arbitrary<RequestChoice> = fc.record({
  type: fc.constant('list' as const),
  access: anyAccess,
  after: anyId,
  limit: fc.constantFrom(1, 2, 3, 1000, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
});

/** A login that a client tries. */
export const anyLogin: fc.Arbitrary<Login> = fc.oneof(
  fc.constant<Login>({
    text: (username, password) => JSON.stringify({ username, password }),
    credentials: 'right',
  }),
  fc.tuple(anyText, anyText).map(([username, password]) => ({
    text: () => JSON.stringify({ username, password }),
    credentials: 'wrong' as const,
  })),
  fc.constantFrom('{}', '{"username":"librarian"}').map((text) => ({
    text: () => text,
    credentials: 'wrong' as const,
  })),
  fc.constantFrom('', '[]', '{"username":1}', '{"password":null}', '{"username":').map((text) => ({
    text: () => text,
    credentials: 'unreadable' as const,
  })),
);

function encode(json: object, isBase64Encoded: boolean, fields: Partial<BookFields>): Body {
  const text = JSON.stringify(json);
  return { text: isBase64Encoded ? Buffer.from(text).toString('base64') : text, isBase64Encoded, fields };
}
