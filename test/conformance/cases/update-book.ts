import { createBook, createMissingId, expectMissing, expectStored } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import { expectAnswer } from '../envelope.ts';
import { outcomes } from '../outcomes.ts';

const rule3 = 'specification 9.3';

const partialBodies: readonly (readonly [string, object])[] = [
  ['all fields', { title: 'Emma', author: 'Jane Austen', year: 1815 }],
  ['only the title', { title: 'Emma' }],
  ['only the author', { author: 'Jane Austen' }],
  ['only the year', { year: 1815 }],
  ['title and author', { title: 'Emma', author: 'Jane Austen' }],
  ['title and year', { title: 'Emma', year: 1815 }],
  ['author and year', { author: 'Jane Austen', year: 1815 }],
  ['no field', {}],
  ['the values that the book has', { title: 'Dune', author: 'Frank Herbert', year: 1965 }],
  ['zero values', { title: '', author: '', year: 0 }],
  ['an empty title', { title: '' }],
  ['the year 0', { year: 0 }],
];

const ignoredMembers: readonly (readonly [string, string])[] = [
  ['an unknown field', '"isbn":"x"'],
  ['the id null', '"id":null'],
  ['an id of the wrong type', '"id":"abc"'],
  ['the attributes of a table', '"shard":7,"writeToken":"x","lastId":9,"pk":"x","sk":"y"'],
  ['names in another case', '"Title":"x","AUTHOR":"y","Year":1'],
  ['__proto__', '"__proto__":{"title":"x","author":"y","year":1}'],
  ['constructor', '"constructor":{"prototype":{"title":"x"}}'],
];

/** PUT /book/{id}: what changes and what stays. */
export const updateBookCases = defineCases('update-book', [
  ...partialBodies.map(
    ([situation, changes]): CaseDefinition => ({
      name: `PUT with ${situation} sets just that and answers with the whole book`,
      reference: rule3,
      run: async (context) => {
        const book = await createBook(context);
        const neighbour = await createBook(context);
        for (let round = 0; round < 2; round += 1) {
          const answer = await context.call('PUT', `/book/${book.id}`, changes);
          expectAnswer(answer, outcomes.bookUpdated, { ...book, ...changes });
        }
        await expectStored(context, { ...book, ...changes });
        await expectStored(context, neighbour);
      },
    }),
  ),
  ...ignoredMembers.map(
    ([situation, members]): CaseDefinition => ({
      name: `In the body of PUT, ${situation} is ignored, not stored and not echoed`,
      reference: 'specification 2.4',
      run: async (context) => {
        const book = await createBook(context);
        const path = `/book/${book.id}`;
        expectAnswer(await context.call('PUT', path, `{${members}}`), outcomes.bookUpdated, book);
        const changed = { ...book, year: 1 };
        const answer = await context.call('PUT', path, `{${members},"year":1}`);
        expectAnswer(answer, outcomes.bookUpdated, changed);
        await expectStored(context, changed);
      },
    }),
  ),
  {
    name: 'The id of another book in the body of PUT is ignored and that book stays as it is',
    reference: 'specification 2.4',
    run: async (context) => {
      const book = await createBook(context);
      const other = await createBook(context);
      const missing = await createMissingId(context);
      for (const id of [other.id, missing]) {
        const answer = await context.call('PUT', `/book/${book.id}`, { id, title: 'changed' });
        expectAnswer(answer, outcomes.bookUpdated, { ...book, title: 'changed' });
      }
      await expectStored(context, { ...book, title: 'changed' });
      await expectStored(context, other);
      await expectMissing(context, missing);
    },
  },
  {
    name: 'Updates one after the other add up, and each is seen at once',
    reference: `${rule3}, 3.7`,
    run: async (context) => {
      let book = await createBook(context);
      for (let round = 0; round < 10; round += 1) {
        const changes = [{ title: `title ${round}` }, { author: `author ${round}` }, { year: round }][
          round % 3
        ];
        book = { ...book, ...changes };
        const answer = await context.call('PUT', `/book/${book.id}`, changes);
        expectAnswer(answer, outcomes.bookUpdated, book);
        await expectStored(context, book);
      }
    },
  },
  {
    name: 'PUT never creates a book',
    reference: 'specification 9.1',
    run: async (context) => {
      const gone = await createMissingId(context);
      for (const id of [gone, Number.MAX_SAFE_INTEGER]) {
        const body = { id, title: 'Emma', author: 'Jane Austen', year: 1815 };
        expectAnswer(await context.call('PUT', `/book/${id}`, body), outcomes.bookNotFound);
        await expectMissing(context, id);
      }
    },
  },
]);
