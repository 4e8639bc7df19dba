import { createBook, expectCreated, expectStored } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { expectEqual } from '../expectation.ts';
import { outcomes } from '../outcomes.ts';

const reference = 'specification 2.6, 3.4';

/** JSON text of years, with the integer that each stands for. */
const integers: readonly (readonly [string, number])[] = [
  ['0', 0],
  ['-0', 0],
  ['1', 1],
  ['-1', -1],
  ['-753', -753],
  ['99999', 99999],
  ['2147483648', 2 ** 31],
  ['4294967296', 2 ** 32],
  ['-2147483649', -(2 ** 31) - 1],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['-9007199254740991', Number.MIN_SAFE_INTEGER],
  ['9007199254740990', Number.MAX_SAFE_INTEGER - 1],
  ['2020.0', 2020],
  ['2020.00000000000000000000', 2020],
  ['2.02e3', 2020],
  ['2.02E+3', 2020],
  ['202000e-2', 2020],
  ['0.0', 0],
  ['1e15', 1e15],
  ['9007199254740991.0', Number.MAX_SAFE_INTEGER],
  ['9.007199254740991e15', Number.MAX_SAFE_INTEGER],
];

const refused: readonly string[] = [
  '9007199254740992',
  '-9007199254740992',
  '9007199254740993',
  '9007199254740992.0',
  '18446744073709551616',
  '1e16',
  '1e400',
  '-1e400',
  '1.5',
  '-0.5',
  '2020.9999999',
  '2020.00000000000000000001',
  '2019.99999999999999999999',
  '9007199254740991.1',
  '-9007199254740991.4',
  '20201e-1',
  '1e-400',
  '"2020"',
  '""',
  'null',
  'true',
  'false',
  '[]',
  '[2020]',
  '{}',
  'NaN',
  'Infinity',
  '-Infinity',
  '02020',
  '+2020',
  '0x7E4',
  '2020.',
  '.5',
  '2_020',
  '2020n',
];

/** The year: which numbers are integers, and that none is ever rounded. */
export const yearCases = defineCases('year', [
  ...integers.map(
    ([text, year]): CaseDefinition => ({
      name: `The year ${text} is stored and given back exactly`,
      reference,
      run: async (context) => {
        const fields = { title: 'Emma', author: 'Jane Austen', year };
        const body = `{"title":"Emma","author":"Jane Austen","year":${text}}`;
        const created = await context.call('POST', '/book', body);
        const { id } = expectCreated(created, fields);
        const other = await createBook(context);
        const updated = await context.call('PUT', `/book/${other.id}`, `{"year":${text}}`);
        expectAnswer(updated, outcomes.bookUpdated, { ...other, year });
        const read = await context.call('GET', `/book/${id}`);
        expectAnswer(read, outcomes.bookRetrieved, { id, ...fields });
        await expectStored(context, { ...other, year });
        // Parsing would hide digits that a number in JavaScript does not have.
        for (const { body: answered } of [created, updated, read]) {
          const written = /"year"\s*:\s*([^,}\s]+)/.exec(answered.toString())?.[1];
          expectEqual('the digits of the year', written, String(year));
        }
      },
    }),
  ),
  ...refused.map(
    (text): CaseDefinition => ({
      name: `The year ${text} is invalid input and changes nothing`,
      reference,
      run: async (context) => {
        const book = await createBook(context);
        const body = `{"title":"Emma","author":"Jane Austen","year":${text}}`;
        expectAnswer(await context.call('POST', '/book', body), outcomes.invalidInput);
        expectAnswer(await context.call('PUT', `/book/${book.id}`, body), outcomes.invalidInput);
        await expectStored(context, book);
      },
    }),
  ),
]);
