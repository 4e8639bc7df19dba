import fc from 'fast-check';
import { unknownField } from '../../../conformance/a-book.ts';
import type { BookFields } from '../../../lib/books/book.ts';
import { anyFieldValues } from '../../support/a-book.ts';
import { anyText } from '../../support/any-text.ts';

/** A request body and its meaning. */
interface Body {
  readonly text: string;
  readonly isBase64Encoded: boolean;
  /** Its fields; absent when the body is invalid. */
  readonly fields: Partial<BookFields> | undefined;
}

/** The entity tags in `If-Match` or `If-None-Match`, and how they are written. */
export interface Precondition {
  readonly header: string;
  /** The tags that it names, `*` for any, each with its quotation marks. */
  readonly strong: readonly string[] | '*';
  readonly weak: readonly string[];
}

/** A choice of a book before the books are known: an earlier one, one of the next ids, or a text that is no id. */
export type IdChoice = { readonly created: number } | { readonly next: number } | { readonly text: string };

/** A choice of tags before those of the book are known, or a literal header. */
export type PreconditionChoice =
  | readonly ('last seen' | 'seen earlier' | 'weak last seen' | 'foreign')[]
  | { readonly header: string };

/** A request of a client; each type uses some of the members. */
interface Request<Id, Tags> {
  readonly type: 'create' | 'get' | 'update' | 'delete' | 'list';
  /** The HMAC of a valid token, or its defect. */
  readonly access: 'HS256' | 'HS384' | 'HS512' | 'missing' | 'invalid';
  /** The id of the book, or the cursor of a list. */
  readonly id: Id;
  readonly body: Body;
  readonly key: string | undefined;
  readonly precondition: Tags | undefined;
  /** Infinity for the whole list. */
  readonly limit: number;
}

/** A request for a book that is yet to be chosen. */
export type RequestChoice = Request<IdChoice, PreconditionChoice>;

/** A request; a text for an id is one that no book can have. */
export type AnyRequest = Request<number | string, Precondition>;

/** Draws one of some values by weight. */
function draw<Value>(...weighted: readonly (readonly [number, fc.Arbitrary<Value>])[]): fc.Arbitrary<Value> {
  return fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** Mostly few different fields, so that clients collide; sometimes any. */
const anyFields = fc.record(
  {
    ...anyFieldValues,
    title: fc.oneof(fc.constantFrom('', 'Emma', 'Dune'), anyText),
    year: fc.oneof(fc.integer({ min: -3000, max: 3000 }), fc.maxSafeInteger()),
  },
  { requiredKeys: [] },
);

const unreadable = [
  ...['', '{', '[]', 'null', '1', '"x"', '{"year":1}x', '{"title":"\\ud800"}', '{"title":null}'],
  ...['{"year":"1"}', '{"year":1.5}', '{"year":1e400}', '{"year":9007199254740992}', '{"author":["x"]}'],
];

/** More text than a book may have, by one byte. */
const oversized = encode({ title: 'x'.repeat(400 * 1024 + 1) });

const noUtf8 = Buffer.from('{\xc3(}', 'latin1').toString('base64');

const anyIgnored = fc.constantFrom({}, {}, { id: 7 }, { [unknownField]: null, Title: 'x' });

/** The same fields again, as in a repeated request. */
const sameFields = fc.constantFrom({}, { title: 'Dune' }, { title: 'Dune', author: '', year: 0 });

const anyBody = draw<Body>(
  [32, fc.tuple(anyFields, anyIgnored, fc.boolean()).map((parts) => encode(...parts))],
  [41, sameFields.map((fields) => encode(fields))],
  [6, fc.constantFrom(...unreadable).map((text) => ({ text, isBase64Encoded: false, fields: undefined }))],
  [2, fc.constant({ text: noUtf8, isBase64Encoded: true, fields: undefined })],
  [1, fc.constant(oversized)],
);

const anyId = draw<IdChoice>(
  [12, fc.record({ created: fc.nat({ max: 5 }) })],
  [3, fc.record({ next: fc.integer({ min: 1, max: 3 }) })],
  [1, fc.record({ text: fc.constantFrom('0', '-1', '01', '1.0', '1e0', 'x', '', '9007199254740992') })],
);

/** Few keys, so that requests repeat them with the same fields and with others. */
const anyKey = draw(
  [8, fc.constant(undefined)],
  [5, fc.constantFrom('one', '"two"', '3'.repeat(255))],
  [1, fc.constantFrom('', 'a b', 'ż', '4'.repeat(256), 'tab\t')],
);

const anyTag = fc.constantFrom('last seen', 'seen earlier', 'weak last seen', 'foreign');

const anyHeader = fc.constantFrom('*', '', ',', 'unquoted', '"open', 'w/"x"', '"a" "b"', '*, "x"');

const anyPrecondition = draw<PreconditionChoice | undefined>(
  [8, fc.constant(undefined)],
  [5, fc.constant(['last seen'])],
  [3, fc.array(anyTag, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<PreconditionChoice>],
  [1, fc.record({ header: anyHeader })],
);

/** Any request; creates and updates most often. */
export const anyRequest: fc.Arbitrary<RequestChoice> = fc.record({
  type: draw<RequestChoice['type']>(
    [8, fc.constant('create')],
    [6, fc.constant('update')],
    [6, fc.constantFrom('get', 'delete')],
    [5, fc.constant('list')],
  ),
  access: draw([20, fc.constantFrom('HS256', 'HS384', 'HS512')], [1, fc.constantFrom('missing', 'invalid')]),
  id: anyId,
  body: anyBody,
  key: anyKey,
  precondition: anyPrecondition,
  limit: fc.constantFrom(1, 2, 3, 1000, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
});

function encode(fields: Partial<BookFields>, ignored = {}, isBase64Encoded = false): Body {
  const text = JSON.stringify({ ...ignored, ...fields });
  return { text: isBase64Encoded ? Buffer.from(text).toString('base64') : text, isBase64Encoded, fields };
}
