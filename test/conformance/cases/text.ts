import { fragments } from '../../support/any-text.ts';
import { createBook, expectCreated, expectStored, listBooks, pickBooks } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { expectEqual } from '../expectation.ts';
import { workInParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

const reference = 'specification 2.6, 3.3';

const texts: readonly (readonly [string, string])[] = [
  ['the empty string', ''],
  ['only spaces', '   '],
  ['space at both ends', ' \t Emma \r\n '],
  ['quotes and backslashes', 'a"b\\c/d\'e\\"f\\u0041'],
  ['control characters', '\u0001\b\t\n\v\f\r\u001b\u007f\u0085'],
  ['NUL', 'a\0b\0'],
  ['accents in one code point', 'Café Å'],
  ['accents of their own', 'Cafe\u0301 A\u030a'],
  ['emoji', '📚 👩‍👩‍👧‍👦 🏳️‍🌈 🇪🇺'],
  ['the last code point', '\u{10ffff}\u{1f600}'],
  ['right-to-left text', 'ألف ليلة וליל \u202eabc\u202c'],
  ['Chinese, Japanese and Korean', '紅樓夢 源氏物語 춘향전 𠮷'],
  ['line separators of Unicode', 'a\u2028b\u2029c'],
  ['a byte order mark', '\ufeffa\ufeff'],
  ['the replacement character', '\ufffd'],
  ['noncharacters', '\ufffe\uffff\ufdd0'],
  ['zero-width characters', 'a\u200bb\u200dc\u00ad'],
  ['markup', '<script>alert(1)</script>&amp;<!--'],
  ['placeholders', '{{7*7}} #{7*7} %s %n $1 $& \\0'],
  ['a query', "'; DROP TABLE books; --"],
  ['the word null', 'null'],
  ['the word __proto__', '__proto__'],
  ['digits', '1965'],
  ['JSON', '{"title":"x"}'],
];

const createsAtOnce = 8;

/** Title and author: any string comes back as it was sent. */
export const textCases = defineCases('text', [
  ...texts.map(
    ([situation, text]): CaseDefinition => ({
      name: `A title and an author of ${situation} come back unaltered`,
      reference,
      run: async (context) => {
        const created = await createBook(context, { title: text, author: text });
        await expectStored(context, created);
        const { id } = await createBook(context);
        const changed = { id, title: text, author: text, year: 7 };
        const answer = await context.call('PUT', `/book/${id}`, { title: text, author: text, year: 7 });
        expectAnswer(answer, outcomes.bookUpdated, changed);
        await expectStored(context, changed);
      },
    }),
  ),
  {
    name: 'Characters written as escapes are the same as the characters',
    reference,
    run: async (context) => {
      const body = '{"\\u0074itle":"\\ud83d\\ude00 \\u0000 \\u00e9 \\/","author":"\\u0041"}';
      const answer = await context.call('POST', '/book', body);
      await expectStored(context, expectCreated(answer, { title: '😀 \0 é /', author: 'A', year: 0 }));
    },
  },
  {
    name: 'The list holds unusual texts unaltered',
    reference,
    run: async (context) => {
      const titles = [...texts.map(([, text]) => text), ...fragments];
      const create = (text: string) => createBook(context, { title: text, author: text });
      const books = await workInParallel(titles, createsAtOnce, create);
      books.sort((a, b) => a.id - b.id);
      expectEqual('own books in the list', pickBooks(await listBooks(context), books), books);
    },
  },
  {
    name: "The list ends with a book of any text of the database's own syntax",
    reference,
    run: async (context) => {
      for (const text of ['}},{', '"}},{"', '"}]']) {
        const book = await createBook(context, { title: text, author: text });
        expectEqual('the last book of the list', pickBooks(await listBooks(context), [book]), [book]);
      }
    },
  },
]);
