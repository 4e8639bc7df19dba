import { createBook, deleteBook, expectCreated, expectStored } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectTrue } from '../expectation.ts';

const rule2 = 'specification 6.3';
const missingField = 'specification 6.2';
const unknownField = 'specification 2.4, 3.1';

const missingFields: readonly (readonly [string, object, object])[] = [
  ['no field at all', {}, {}],
  ['only a title', { title: 'Emma' }, { title: 'Emma' }],
  ['only an author', { author: 'Jane Austen' }, { author: 'Jane Austen' }],
  ['only a year', { year: 1815 }, { year: 1815 }],
  ['no year', { title: 'Emma', author: 'Jane Austen' }, { title: 'Emma', author: 'Jane Austen' }],
];

const ignoredFields: readonly (readonly [string, string])[] = [
  ['an id', '"id":123456789'],
  ['the id null', '"id":null'],
  ['an id of the wrong type', '"id":{"x":[]}'],
  ['an unknown field', '"isbn":"978-0-14-143958-7"'],
  ['unknown fields of every type', '"a":null,"b":[1,{"c":[]}],"d":{"title":"x"},"e":true,"f":1e999'],
  ['the names of the fields in another case', '"Title":"x","AUTHOR":"y","Year":1'],
  ['names of fields with spaces', '" title":"x","author ":"y"'],
  ['the attributes of a table', '"shard":7,"writeToken":"x","lastId":9,"pk":"x","sk":"y"'],
  ['__proto__', '"__proto__":{"title":"x","author":"y","year":1}'],
  ['constructor and toString', '"constructor":{"prototype":{}},"toString":1,"hasOwnProperty":null'],
  ['an empty name', '"":1'],
];

/** POST /book: what is stored and answered for bodies that can be parsed. */
export const createBookCases = defineCases('create-book', [
  {
    name: 'A book is created, answered with its id, and found',
    reference: rule2,
    run: async (context) => {
      await expectStored(
        context,
        await createBook(context, { title: 'Emma', author: 'Jane Austen', year: 1815 }),
      );
    },
  },
  {
    name: 'Two equal books are two books',
    reference: 'specification 6.4',
    run: async (context) => {
      const first = await createBook(context);
      const second = await createBook(context);
      expectTrue('the second id', second.id !== first.id, `another than ${first.id}`, second.id);
      await expectStored(context, first);
      await expectStored(context, second);
    },
  },
  {
    name: 'Ids increase and are not used again after a deletion',
    reference: 'specification 3.2',
    run: async (context) => {
      let last = 0;
      for (let round = 0; round < 5; round += 1) {
        const { id } = await createBook(context);
        expectTrue('the id of the next book', id > last, `above ${last}`, id);
        last = id;
        await deleteBook(context, id);
      }
    },
  },
  ...missingFields.map(
    ([situation, body, kept]): CaseDefinition => ({
      name: `A book with ${situation} gets the zero value of what is missing`,
      reference: missingField,
      run: async (context) => {
        const fields = { title: '', author: '', year: 0, ...kept };
        await expectStored(context, expectCreated(await context.call('POST', '/book', body), fields));
      },
    }),
  ),
  ...ignoredFields.map(
    ([situation, members]): CaseDefinition => ({
      name: `In the body of POST /book, ${situation} is ignored, not stored and not echoed`,
      reference: unknownField,
      run: async (context) => {
        const body = `{"title":"Emma",${members},"year":1815}`;
        const fields = { title: 'Emma', author: '', year: 1815 };
        const book = expectCreated(await context.call('POST', '/book', body), fields);
        expectTrue('the id', book.id !== 123456789, 'one of the service', book.id);
        await expectStored(context, book);
      },
    }),
  ),
  ...['{"title":"a","title":"b"}', '{"title":1,"title":"b"}', '{"title":"a","title":null}'].map(
    (body): CaseDefinition => ({
      name: `A body that names a field twice, ${body}, is read in one way or refused`,
      reference: 'specification 2.5; RFC 8259 section 4',
      run: async (context) => {
        const answer = await context.call('POST', '/book', body);
        expectTrue('the status', [201, 400].includes(answer.status), '201 or 400', answer.status);
        if (answer.status === 400) return;
        const { title } = JSON.parse(answer.body.toString()).data;
        expectTrue('the title', title === 'a' || title === 'b', 'one of the two', title);
        await expectStored(context, expectCreated(answer, { title, author: '', year: 0 }));
      },
    }),
  ),
]);
