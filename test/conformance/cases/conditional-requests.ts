import type { HttpResponse } from '../../support/http-client.ts';
import { type Book, createBook, createMissingId, expectMissing, expectStored } from '../book-steps.ts';
import { type CaseDefinition, defineCases } from '../case.ts';
import type { ConformanceContext } from '../context.ts';
import { expectAnswer, expectOutcome } from '../envelope.ts';
import { expectEqual, expectTrue } from '../expectation.ts';
import { workInParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

/** A header's values, made of a book's entity tag. */
type MakeHeader = (tag: string) => string | readonly string[];

type Situation = readonly [string, MakeHeader];

const strongTag = /^"[\x21\x23-\x7e]+"$/;

/** Match by the strong comparison, and so by the weak one. */
const holding: readonly Situation[] = [
  ['the tag', (tag) => tag],
  ['*', () => '*'],
  ['the tag between white space', (tag) => ` \t${tag} \t`],
  ['the tag as the first of three', (tag) => `${tag}, "x", W/"y"`],
  ['the tag as the last of three', (tag) => `W/"x", "y", ${tag}`],
  ['the tag in a list without spaces', (tag) => `"x",${tag},"y"`],
  ['the tag in a list with tabs', (tag) => `"x"\t,\t${tag}`],
  ['the tag after one with a comma in it', (tag) => `"a,b", ${tag}`],
  ['the tag after an empty tag', (tag) => `"", ${tag}`],
  ['the tag between empty elements', (tag) => `, ,${tag}, ,`],
  [
    'the tag after a hundred others',
    (tag) =>
      [
        ...Array(100)
          .keys()
          .map((n) => `"${n}"`),
        tag,
      ].join(', '),
  ],
  ['the tag in the first of two headers', (tag) => [tag, '"x"']],
  ['the tag in the second of two headers', (tag) => ['"x", "y"', tag]],
];

/** Match by the weak comparison only. */
const holdingWeakly: readonly Situation[] = [
  ['the tag marked as weak', (tag) => `W/${tag}`],
  ['the tag marked as weak, in a list', (tag) => `"x", W/${tag}`],
];

/** Match by no comparison. */
const notHolding: readonly Situation[] = [
  ['another tag', () => '"x"'],
  ['other tags', () => '"x", W/"y", "z"'],
  ['an empty tag', () => '""'],
  ['a tag that is an asterisk', () => '"*"'],
  ['the tag in another case', (tag) => swapCase(tag)],
  ['the tag and more within the quotation marks', (tag) => `${tag.slice(0, -1)}x"`],
  ['the start of the tag', (tag) => `${tag.slice(0, -2)}"`],
  ['white space within the tag', (tag) => `${tag.slice(0, 3)} ${tag.slice(3)}`],
  ['the tag without quotation marks', (tag) => tag.slice(1, -1)],
  ['the tag without the last quotation mark', (tag) => tag.slice(0, -1)],
  ['the tag in apostrophes', (tag) => `'${tag.slice(1, -1)}'`],
  ['the tag with a small w', (tag) => `w/${tag}`],
  ['the tag with a W and no slash', (tag) => `W${tag}`],
  ['the tag with a space after W/', (tag) => `W/ ${tag}`],
  ['the tag and a word', (tag) => `${tag}, x`],
  ['a word and the tag', (tag) => `x, ${tag}`],
  ['the tag and another without a comma', (tag) => `${tag} "x"`],
  ['the tag and another, separated by a semicolon', (tag) => `${tag}; "x"`],
  ['the tag and *', (tag) => `${tag}, *`],
  ['* and the tag', (tag) => `*, ${tag}`],
  ['two *', () => '**'],
  ['the tag and, in a second header, a word', (tag) => [tag, 'x']],
  ['nothing', () => ''],
  ['commas', () => ', ,'],
];

/** ETag, If-None-Match and If-Match of a book. */
export const conditionalRequestCases = defineCases('conditional-requests', [
  {
    name: 'A book has one strong tag for POST, GET and PUT, and another after each change',
    reference: 'specification 12.1',
    run: async (context) => {
      const { book, tag: created } = await createTagged(context);
      const path = `/book/${book.id}`;
      const tags = [created];
      for (const changes of [{ title: 'a' }, { year: 1 }, { title: book.title, year: book.year }]) {
        for (let round = 0; round < 2; round += 1) {
          expectEqual('the tag of GET', tagOf(await context.call('GET', path)), tags.at(-1));
        }
        expectEqual('the tag of an empty PUT', tagOf(await context.call('PUT', path, {})), tags.at(-1));
        tags.push(tagOf(await context.call('PUT', path, changes)));
      }
      expectEqual('the tag of GET', tagOf(await context.call('GET', path)), tags.at(-1));
      expectEqual('the number of different tags', new Set(tags).size, tags.length);
    },
  },
  {
    name: 'Lists, deletions, logins and errors have no tag',
    reference: 'specification 12.1',
    run: async (context) => {
      const { id } = await createBook(context);
      for (const answer of [
        await context.call('GET', '/books?limit=1'),
        await context.call('PUT', `/book/${id}`, { title: 1 }),
        await context.call('PUT', `/book/${id}`, {}, { 'If-Match': '"x"' }),
        await context.call('DELETE', `/book/${id}`),
        await context.call('GET', `/book/${id}`),
        await context.logIn(context.credentials),
      ]) {
        expectEqual(`${answer.request.method} ${answer.request.path}`, answer.headers.etag, undefined);
      }
    },
  },
  ...[...holding, ...holdingWeakly].map(
    ([situation, makeHeader]): CaseDefinition => ({
      name: `GET with If-None-Match that holds ${situation} has a 304 without a body`,
      reference: 'specification 12.2, 12.7, 1.4',
      run: async (context) => {
        const { book, tag } = await createTagged(context);
        const answer = await getUnless(context, book.id, makeHeader(tag));
        const { status, headers, body } = answer;
        expectEqual(
          'the response',
          { status, tag: headers.etag, size: body.length },
          { status: 304, tag, size: 0 },
        );
        await expectStored(context, book);
      },
    }),
  ),
  ...notHolding.map(
    ([situation, makeHeader]): CaseDefinition => ({
      name: `GET with If-None-Match that holds ${situation} has the book`,
      reference: 'specification 12.3, 12.7',
      run: async (context) => {
        const { book, tag } = await createTagged(context);
        const answer = await getUnless(context, book.id, makeHeader(tag));
        expectAnswer(answer, outcomes.bookRetrieved, book);
        expectEqual('the tag', tagOf(answer), tag);
      },
    }),
  ),
  {
    name: 'A book that has changed is sent to a client that knows it as it was',
    reference: 'specification 12.3',
    run: async (context) => {
      const { book, tag } = await createTagged(context);
      const changed = { ...book, title: 'changed' };
      const current = tagOf(await context.call('PUT', `/book/${book.id}`, { title: 'changed' }));
      expectAnswer(await getUnless(context, book.id, tag), outcomes.bookRetrieved, changed);
      expectEqual('the status', (await getUnless(context, book.id, current)).status, 304);
      expectEqual('the status', (await getUnless(context, book.id, `${tag}, ${current}`)).status, 304);
    },
  },
  ...holding.map(
    ([situation, makeHeader]): CaseDefinition => ({
      name: `PUT and DELETE with If-Match that holds ${situation} are carried out`,
      reference: 'specification 12.4, 12.7',
      run: async (context) => {
        const { book, tag } = await createTagged(context);
        const unchanged = await putIf(context, book.id, makeHeader(tag), {});
        expectAnswer(unchanged, outcomes.bookUpdated, book);
        expectEqual('the tag', tagOf(unchanged), tag);
        const changed = { ...book, title: 'changed' };
        const answer = await putIf(context, book.id, makeHeader(tag), { title: 'changed' });
        expectAnswer(answer, outcomes.bookUpdated, changed);
        await expectStored(context, changed);
        const deleted = await deleteIf(context, book.id, makeHeader(tagOf(answer)));
        expectAnswer(deleted, outcomes.bookDeleted);
        await expectMissing(context, book.id);
      },
    }),
  ),
  ...[...notHolding, ...holdingWeakly].map(
    ([situation, makeHeader]): CaseDefinition => ({
      name: `PUT and DELETE with If-Match that holds ${situation} are refused and change nothing`,
      reference: 'specification 12.5, 12.7',
      run: async (context) => {
        const { book, tag } = await createTagged(context);
        for (const body of [{ title: 'changed' }, {}]) {
          const answer = await putIf(context, book.id, makeHeader(tag), body);
          expectAnswer(answer, outcomes.preconditionFailed);
        }
        const answer = await deleteIf(context, book.id, makeHeader(tag));
        expectAnswer(answer, outcomes.preconditionFailed);
        await expectStored(context, book);
        expectEqual('the tag', tagOf(await context.call('GET', `/book/${book.id}`)), tag);
      },
    }),
  ),
  {
    name: 'A tag from before a change is refused, also when the change has been taken back',
    reference: 'specification 12.5',
    run: async (context) => {
      const { book, tag } = await createTagged(context);
      const path = `/book/${book.id}`;
      for (const title of ['changed', book.title]) {
        expectOutcome(await context.call('PUT', path, { title }), outcomes.bookUpdated);
        const answer = await putIf(context, book.id, tag, { year: 1 });
        expectAnswer(answer, outcomes.preconditionFailed);
        expectAnswer(await deleteIf(context, book.id, tag), outcomes.preconditionFailed);
      }
      await expectStored(context, book);
    },
  },
  {
    name: 'The tag of another book is refused',
    reference: 'specification 12.5',
    run: async (context) => {
      const { book } = await createTagged(context);
      const { tag } = await createTagged(context);
      expectAnswer(await putIf(context, book.id, tag, { year: 1 }), outcomes.preconditionFailed);
      expectAnswer(await deleteIf(context, book.id, tag), outcomes.preconditionFailed);
      await expectStored(context, book);
    },
  },
  {
    name: 'A missing or invalid token comes before a failed precondition',
    reference: 'specification 12.6',
    run: async (context) => {
      const { book, tag } = await createTagged(context);
      const path = `/book/${book.id}`;
      for (const [token, outcome] of [
        [{}, outcomes.tokenRequired],
        [{ Authorization: 'nonsense' }, outcomes.invalidToken],
      ] as const) {
        const stale = { ...token, 'If-Match': '"x"' };
        expectAnswer(await context.send({ method: 'PUT', path, headers: stale, body: '{}' }), outcome);
        expectAnswer(await context.send({ method: 'DELETE', path, headers: stale }), outcome);
        const known = { ...token, 'If-None-Match': tag };
        expectAnswer(await context.send({ method: 'GET', path, headers: known }), outcome);
      }
      await expectStored(context, book);
    },
  },
  {
    name: 'A missing book comes before a failed precondition, and before one that any book fulfils',
    reference: 'specification 12.6',
    run: async (context) => {
      const missing = await createMissingId(context);
      for (const id of [missing, Number.MAX_SAFE_INTEGER, 0, '01', 'abc']) {
        for (const header of ['"x"', '*', 'nonsense', '']) {
          expectAnswer(await getUnless(context, id, header), outcomes.bookNotFound);
          for (const body of [{ title: 'changed' }, {}, '{', { title: 1 }]) {
            expectAnswer(await putIf(context, id, header, body), outcomes.bookNotFound);
          }
          expectAnswer(await deleteIf(context, id, header), outcomes.bookNotFound);
        }
      }
      await expectMissing(context, missing);
    },
  },
  {
    name: 'An invalid body comes before a failed precondition, and also after one that holds',
    reference: 'specification 12.6',
    run: async (context) => {
      const { book, tag } = await createTagged(context);
      for (const header of ['"x"', 'nonsense', '', '*', tag]) {
        for (const body of ['{', '[]', { title: 1 }, { year: 1.5 }]) {
          expectAnswer(await putIf(context, book.id, header, body), outcomes.invalidInput);
        }
      }
      await expectStored(context, book);
    },
  },
  {
    name: 'A body that makes the book too large comes before a failed precondition',
    reference: 'specification 12.6',
    run: async (context) => {
      const { book, tag } = await createTagged(context);
      for (const header of ['"x"', 'nonsense', '*', tag]) {
        const answer = await putIf(context, book.id, header, { title: 'x'.repeat(410 * 1024) });
        expectAnswer(answer, outcomes.payloadTooLarge);
      }
      await expectStored(context, book);
    },
  },
  {
    name: 'Of ten updates with the same tag at the same time, one is carried out and nine are refused',
    reference: 'specification 12.5',
    run: async (context) => {
      for (let round = 0; round < 5; round += 1) {
        const { book, tag } = await createTagged(context);
        const answers = await workInParallel(Array(10).keys(), 10, (year) =>
          putIf(context, book.id, tag, { year }),
        );
        const winners = answers.filter(({ status }) => status === 200);
        expectEqual('the number of updates', winners.length, 1);
        for (const answer of answers) {
          if (answer.status !== 200) expectAnswer(answer, outcomes.preconditionFailed);
        }
        const year = answers.findIndex(({ status }) => status === 200);
        const [winner] = winners as [HttpResponse];
        expectAnswer(winner, outcomes.bookUpdated, { ...book, year });
        await expectStored(context, { ...book, year });
      }
    },
  },
  {
    name: 'Of updates and deletions with the same tag at the same time, one is carried out',
    reference: 'specification 12.5, 12.6',
    run: async (context) => {
      for (let round = 0; round < 5; round += 1) {
        const { book, tag } = await createTagged(context);
        const answers = await workInParallel(Array(10).keys(), 10, (turn) =>
          turn % 2 === 0 ? putIf(context, book.id, tag, { year: turn }) : deleteIf(context, book.id, tag),
        );
        const winners = answers.filter(({ status }) => status === 200);
        expectEqual('the number that was carried out', winners.length, 1);
        const deleted = winners[0]?.request.method === 'DELETE';
        for (const answer of answers) {
          if (answer.status === 404 && deleted) expectAnswer(answer, outcomes.bookNotFound);
          else if (answer.status !== 200) expectAnswer(answer, outcomes.preconditionFailed);
        }
        if (deleted) await expectMissing(context, book.id);
      }
    },
  },
  {
    name: 'Clients that read, add one and write with If-Match lose no addition',
    reference: 'specification 12.4, 12.5',
    run: async (context) => {
      const { id } = await createBook(context, { year: 0 });
      const path = `/book/${id}`;
      const addOne = async () => {
        for (let attempt = 0; attempt < 100; attempt += 1) {
          const read = await context.call('GET', path);
          const { year } = expectOutcome(read, outcomes.bookRetrieved) as Book;
          const answer = await putIf(context, id, tagOf(read), { year: year + 1 });
          if (answer.status === 200) return;
          expectAnswer(answer, outcomes.preconditionFailed);
        }
        expectTrue('an addition', false, 'carried out within 100 attempts', 'not carried out');
      };
      await workInParallel(Array(20).keys(), 4, addOne);
      const { year } = expectOutcome(await context.call('GET', path), outcomes.bookRetrieved) as Book;
      expectEqual('the sum', year, 20);
    },
  },
  {
    name: 'The names of the headers may be in any case',
    reference: 'specification 12.2, 12.5',
    run: async (context) => {
      const { book, tag } = await createTagged(context);
      const path = `/book/${book.id}`;
      for (const name of ['if-none-match', 'IF-NONE-MATCH', 'iF-nONE-mATCH']) {
        expectEqual(name, (await context.call('GET', path, undefined, { [name]: tag })).status, 304);
      }
      for (const name of ['if-match', 'IF-MATCH', 'iF-mATCH']) {
        const answer = await context.call('PUT', path, { year: 1 }, { [name]: '"x"' });
        expectAnswer(answer, outcomes.preconditionFailed);
      }
    },
  },
  {
    name: 'Where a header has no meaning, it is ignored',
    reference: 'specification 12.8',
    run: async (context) => {
      const { book, tag } = await createTagged(context);
      const path = `/book/${book.id}`;
      const headers = { 'If-Match': '"x"', 'If-None-Match': '*' };
      expectOutcome(await context.call('GET', '/books?limit=1', undefined, headers), outcomes.booksRetrieved);
      expectOutcome(await context.call('POST', '/book', {}, headers), outcomes.bookCreated);
      expectOutcome(await context.logIn(context.credentials, headers), outcomes.tokenGenerated);
      const read = await context.call('GET', path, undefined, { 'If-Match': '"x"' });
      expectAnswer(read, outcomes.bookRetrieved, book);
      const changed = { ...book, year: 1 };
      const answer = await context.call('PUT', path, { year: 1 }, { 'If-None-Match': tag });
      expectAnswer(answer, outcomes.bookUpdated, changed);
      const deleted = await context.call('DELETE', path, undefined, { 'If-None-Match': '*' });
      expectAnswer(deleted, outcomes.bookDeleted);
    },
  },
]);

async function createTagged(
  context: ConformanceContext,
): Promise<{ readonly book: Book; readonly tag: string }> {
  const answer = await context.call('POST', '/book', { title: 'Dune', author: 'Frank Herbert', year: 1965 });
  return { book: expectOutcome(answer, outcomes.bookCreated) as Book, tag: tagOf(answer) };
}

/** Reads the entity tag of a response, which has to be strong. */
function tagOf({ request, headers: { etag } }: HttpResponse): string {
  const subject = `the ETag of ${request.method} ${request.path}`;
  expectTrue(subject, etag !== undefined && strongTag.test(etag), 'a strong entity tag', etag);
  return etag ?? '';
}

function getUnless(
  context: ConformanceContext,
  id: number | string,
  header: string | readonly string[],
): Promise<HttpResponse> {
  return context.call('GET', `/book/${id}`, undefined, { 'If-None-Match': header });
}

function putIf(
  context: ConformanceContext,
  id: number | string,
  header: string | readonly string[],
  body: unknown,
): Promise<HttpResponse> {
  return context.call('PUT', `/book/${id}`, body, { 'If-Match': header });
}

function deleteIf(
  context: ConformanceContext,
  id: number | string,
  header: string | readonly string[],
): Promise<HttpResponse> {
  return context.call('DELETE', `/book/${id}`, undefined, { 'If-Match': header });
}

/** Another tag, unless there is no letter in it. */
function swapCase(tag: string): string {
  const swapped = tag.replaceAll(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  return swapped === tag ? `${tag.slice(0, -1)}x"` : swapped;
}
