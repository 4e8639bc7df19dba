import { createBook, expectStored } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { gatewayQuestions } from '../gateway-questions.ts';
import { outcomes } from '../outcomes.ts';

const reference = 'specification 3.5';

/** Forms of `{id}` that name no book, made from the id of one that exists: a lenient parser would find it. */
const forms: readonly (readonly [string, (id: number) => string])[] = [
  ['a word', () => 'abc'],
  ['the word undefined', () => 'undefined'],
  ['the word NaN', () => 'NaN'],
  ['0', () => '0'],
  ['00', () => '00'],
  ['-0', () => '-0'],
  ['-1', () => '-1'],
  ['a leading zero', (id) => `0${id}`],
  ['a minus', (id) => `-${id}`],
  ['a plus', (id) => `+${id}`],
  ['an encoded plus', (id) => `%2B${id}`],
  ['a fraction of zero', (id) => `${id}.0`],
  ['a dot at the end', (id) => `${id}.`],
  ['a fraction', (id) => `${id}.5`],
  ['an exponent', (id) => `${id}e0`],
  ['1e3', () => '1e3'],
  ['hexadecimal digits', (id) => `0x${id.toString(16)}`],
  ['a letter after it', (id) => `${id}a`],
  ['the n of a bigint', (id) => `${id}n`],
  ['a space before it', (id) => `%20${id}`],
  ['a space after it', (id) => `${id}%20`],
  ['a comma after it', (id) => `${id},`],
  ['a list of it', (id) => `${id},${id}`],
  ['a semicolon after it', (id) => `${id};x=1`],
  ['an underscore in it', (id) => `${String(id).slice(0, 1)}_${String(id).slice(1)}`],
  ['quotes around it', (id) => `%22${id}%22`],
  ['full-width digits', (id) => encodeURIComponent(shiftDigits(id, 0xff10))],
  ['Arabic digits', (id) => encodeURIComponent(shiftDigits(id, 0x0660))],
  ['2^53', () => '9007199254740992'],
  ['2^53+1', () => '9007199254740993'],
  ['2^63', () => '9223372036854775808'],
  ['2^64-1', () => '18446744073709551615'],
  ['2^64 more than it', (id) => String(2n ** 64n + BigInt(id))],
  ['2^63 less than it', (id) => String(BigInt(id) - 2n ** 63n)],
  ['100 digits', () => '9'.repeat(100)],
];

/** The `{id}` of a path. */
export const bookIdCases = defineCases('book-ids', [
  ...forms.map(
    ([situation, makeForm]): CaseDefinition => ({
      name: `For an id in the form of ${situation}, GET, PUT and DELETE find no book`,
      reference,
      ...(/[^\w.+-]/.test(makeForm(1)) && { gatewayQuestion: gatewayQuestions.unusualPath }),
      run: async (context) => {
        const book = await createBook(context);
        const path = `/book/${makeForm(book.id)}`;
        expectAnswer(await context.call('GET', path), outcomes.bookNotFound);
        expectAnswer(await context.call('PUT', path, { title: 'Emma' }), outcomes.bookNotFound);
        expectAnswer(await context.call('PUT', path, '{"title":'), outcomes.bookNotFound);
        expectAnswer(await context.call('DELETE', path), outcomes.bookNotFound);
        await expectStored(context, book);
      },
    }),
  ),
  {
    name: 'A malformed percent-encoding in a path is a bad request',
    reference: 'specification 1.5',
    gatewayQuestion: gatewayQuestions.unusualPath,
    run: async (context) => {
      expectAnswer(await context.call('GET', '/book/%zz'), outcomes.badRequest);
    },
  },
  {
    name: 'The largest id there can be, 2^53-1, is not found like any other',
    reference: 'specification 8.2',
    run: async (context) => {
      const path = `/book/${Number.MAX_SAFE_INTEGER}`;
      expectAnswer(await context.call('GET', path), outcomes.bookNotFound);
      expectAnswer(await context.call('PUT', path, {}), outcomes.bookNotFound);
    },
  },
  {
    name: 'An id that is 2^32 more than that of a book is another id',
    reference: 'specification 8.2',
    run: async (context) => {
      const { id } = await createBook(context);
      expectAnswer(await context.call('GET', `/book/${2 ** 32 + id}`), outcomes.bookNotFound);
    },
  },
]);

function shiftDigits(id: number, zero: number): string {
  return String(id).replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
}
