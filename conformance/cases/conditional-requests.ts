import assert from 'node:assert/strict';
import type { BookFields } from '../a-book.ts';
import type { Test } from '../case.ts';
import { type Book, type Catalog, dune } from '../catalog.ts';
import { expectData, expectFailure, expectSuccess } from '../expect.ts';
import type { HttpResponse } from '../http-messages.ts';
import { inParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

type Header = string | readonly string[];

/** The comparison by which a header matches. A strong match is a weak one, too. */
type Match = 'strong' | 'weak' | 'none';

const cacheControl = 'private, max-age=0, must-revalidate';

const strongTag = /^"[\x21\x23-\x7e]+"$/;
const hundredTags = Array.from({ length: 100 }, (_, index) => `"${index}", `).join('');

const appendToTag = (tag: string, suffix: string) => `${tag.slice(0, -1)}${suffix}"`;

/** Makers of headers from the entity tag of a book. */
const headers: readonly (readonly [Match, string, (tag: string) => Header])[] = [
  ['strong', 'the tag', (tag) => tag],
  ['strong', '*', () => '*'],
  ['strong', 'the tag as the first of three', (tag) => `${tag}, "x", W/"y"`],
  ['strong', 'the tag as the last of three', (tag) => `W/"x", "y", ${tag}`],
  ['strong', 'the tag after a hundred others', (tag) => hundredTags + tag],
  ['strong', 'the tag in the second of two headers', (tag) => ['"x", "y"', tag]],
  ...['-br', '-gzip', '-zstd'].map((suffix) => {
    return ['strong', `the tag with ${suffix} of a proxy`, (tag: string) => appendToTag(tag, suffix)] as const;
  }),
  ['weak', 'the tag marked as weak', (tag) => `W/${tag}`],
  ['weak', 'the tag marked as weak, in a list', (tag) => `"x", W/${tag}`],
  ['none', 'another tag', () => '"x"'],
  ['none', 'the tag in another case', (tag) => (/[a-z]/.test(tag) ? tag.toUpperCase() : `${tag}x`)],
  ['none', 'the start of the tag', (tag) => `${tag.slice(0, -2)}"`],
  ['none', 'the tag with another suffix', (tag) => appendToTag(tag, '-x')],
  ['none', 'the tag without quotation marks', (tag) => tag.slice(1, -1)],
  ['none', 'the tag with a small w', (tag) => `w/${tag}`],
  ['none', 'the tag and a word', (tag) => `${tag}, x`],
  ['none', 'the tag and *', (tag) => `${tag}, *`],
  ['none', 'nothing', () => ''],
];

/** ETag, If-None-Match and If-Match of a book. */
export default function addCases(test: Test): void {
  const rules = '12.1, 12.2, 12.3';
  test(rules, 'Each change of a book makes a new strong tag, and no earlier one matches', async (catalog) => {
    const { book, path, tag } = await createTagged(catalog);
    const tags = [tag];
    for (const changes of [{ title: 'a' }, { year: 1 }, { title: book.title, year: book.year }]) {
      const earlier = tags.join(', ');
      const changed = tagOf(await catalog.call('PUT', path, changes));
      assert.ok(!tags.includes(changed), `each change makes a new tag, got ${changed} after ${tags}`);
      tags.push(changed);
      expectSuccess(await callIf(catalog, 'GET', path, earlier));
      for (const [method, body] of [['GET'], ['PUT', {}], ['GET']] as const) {
        assert.equal(tagOf(await catalog.call(method, path, body)), changed, `the tag of ${method}`);
      }
      expectFailure(await callIf(catalog, 'PUT', path, earlier, { year: 2 }), outcomes.preconditionFailed);
      expectFailure(await callIf(catalog, 'DELETE', path, earlier), outcomes.preconditionFailed);
    }
    await catalog.expectStored(book);
  });

  for (const [match, situation, makeHeader] of headers) {
    const rules = match === 'none' ? '8.3, 12.2, 12.3, 12.5' : '1.4, 8.3, 12.2, 12.3, 12.6';
    const name = `In If-None-Match and If-Match, ${situation} has the match: ${match}`;
    test(rules, name, async (catalog) => {
      const { book, path, tag } = await createTagged(catalog);
      const header = makeHeader(tag);
      const fetched = await callIf(catalog, 'GET', path, header);
      if (match !== 'none') expectNotModified(fetched, tag);
      else expectFetched(fetched, book, tag);

      const title = 'changed';
      const isStrong = match === 'strong';
      const expectAccepted = (response: HttpResponse, data: Book | null) =>
        isStrong ? expectData(response, data) : expectFailure(response, outcomes.preconditionFailed);
      expectAccepted(await callIf(catalog, 'PUT', path, header, {}), book);
      const updated = await callIf(catalog, 'PUT', path, header, { title });
      expectAccepted(updated, { ...book, title });
      const [stored, newTag] = isStrong ? [{ ...book, title }, tagOf(updated)] : [book, tag];
      expectFetched(await catalog.call('GET', path), stored, newTag);
      expectAccepted(await callIf(catalog, 'DELETE', path, makeHeader(newTag)), null);
      if (isStrong) await catalog.expectMissing(book.id);
      else await catalog.expectStored(stored);
    });
  }

  test('12.4', 'A missing book comes before a precondition, failed or not', async (catalog) => {
    const missingId = await catalog.createMissingId();
    for (const id of [missingId, Number.MAX_SAFE_INTEGER, 0, '01', 'abc']) {
      const path = `/book/${id}`;
      for (const header of ['"x"', '*', 'nonsense', '']) {
        expectFailure(await callIf(catalog, 'GET', path, header), outcomes.bookNotFound);
        for (const body of [{ title: 'changed' }, {}, '{', { title: 1 }]) {
          expectFailure(await callIf(catalog, 'PUT', path, header, body), outcomes.bookNotFound);
        }
        expectFailure(await callIf(catalog, 'DELETE', path, header), outcomes.bookNotFound);
      }
    }
    await catalog.expectMissing(missingId);
  });

  test('12.4', 'An invalid body comes before a failed precondition', async (catalog) => {
    const { book, path, tag } = await createTagged(catalog);
    for (const header of ['"x"', 'nonsense', '', '*', tag]) {
      for (const body of ['{', '[]', { title: 1 }, { year: 1.5 }]) {
        expectFailure(await callIf(catalog, 'PUT', path, header, body), outcomes.invalidInput);
      }
    }
    await catalog.expectStored(book);
  });

  const values = { title: 'x'.repeat(410 * 1024), author: 'x'.repeat(300 * 1024) };
  test('2.8, 12.4', 'A too large body comes before a failed precondition', { values }, async (catalog) => {
    const { book, path, tag } = await createTagged(catalog, { title: 'x'.repeat(150 * 1024) });
    for (const header of ['"x"', 'nonsense', '', '*', tag]) {
      // Too large by themselves, and with the title that is stored.
      for (const large of [{ title: values.title }, { author: values.author }]) {
        expectFailure(await callIf(catalog, 'PUT', path, header, large), outcomes.payloadTooLarge);
      }
    }
    await catalog.expectStored(book);
  });

  test('12.3, 12.4', 'Of updates and deletions with one tag, one is carried out', async (catalog) => {
    for (let round = 0; round < 6; round += 1) {
      const { book, path, tag } = await createTagged(catalog);
      const header = round % 2 === 0 ? tag : hundredTags + tag;
      const responses = await inParallel(10, 10, (turn) =>
        turn % 2 === 0 ? callIf(catalog, 'PUT', path, header, { year: turn }) : callIf(catalog, 'DELETE', path, header),
      );
      const winners = responses.filter(({ status }) => status === 200);
      assert.equal(winners.length, 1, `one request is carried out, got ${winners.length}`);
      const isDeleted = winners[0]?.request.method === 'DELETE';
      for (const response of responses) {
        if (response.status === 404 && isDeleted) expectFailure(response, outcomes.bookNotFound);
        else if (response.status !== 200) expectFailure(response, outcomes.preconditionFailed);
      }
      if (isDeleted) await catalog.expectMissing(book.id);
    }
  });
}

async function createTagged(catalog: Catalog, fields: Partial<BookFields> = {}) {
  const response = await catalog.call('POST', '/book', { ...dune, ...fields });
  const book = expectSuccess(response) as Book;
  return { book, path: `/book/${book.id}`, tag: tagOf(response) };
}

/** Reads the strong entity tag of a response. */
function tagOf({ request, headers: { etag = '' } }: HttpResponse): string {
  assert.match(etag, strongTag, `the ETag of ${request.method} ${request.path} is strong, got ${etag}`);
  return etag;
}

function expectFetched(response: HttpResponse, book: Book, tag: string): void {
  expectData(response, book);
  assert.equal(tagOf(response), tag, 'the tag');
  assert.equal(response.headers['cache-control'], cacheControl, 'Cache-Control');
}

function expectNotModified({ status, headers, body }: HttpResponse, tag: string): void {
  const actual = { status, tag: headers.etag, cacheControl: headers['cache-control'], bytes: body.length };
  assert.deepEqual(actual, { status: 304, tag, cacheControl, bytes: 0 }, 'the 304 without a body');
}

/** Sends a header that the method heeds: If-None-Match with GET, If-Match with the others. */
function callIf(
  catalog: Catalog,
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  header: Header,
  body?: unknown,
): Promise<HttpResponse> {
  return catalog.call(method, path, body, { [method === 'GET' ? 'If-None-Match' : 'If-Match']: header });
}
