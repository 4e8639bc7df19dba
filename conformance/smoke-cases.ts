import assert from 'node:assert/strict';
import { allows, type BookFields } from './a-book.ts';
import { collectCases, type Test } from './case.ts';
import { type Book, type Catalog, expectBooks, expectCreated } from './catalog.ts';
import { requestEach } from './contract/description.ts';
import { expectData, expectFailure } from './expect.ts';
import { outcomes } from './outcomes.ts';

/**
 * The cases for a stage with the books of others: every endpoint, and the refusals that a client meets. They make a few
 * books, which say that they are of a test.
 */
export const smokeCases = collectCases('smoke', addCases);

/** Too large for a book. */
const largeTitle = 'x'.repeat(410 * 1024);

function addCases(test: Test): void {
  test('5.1, 5.2, 5.4', 'The right credentials get a token, others do not', async (catalog) => {
    expectFailure(await catalog.logIn({}), outcomes.invalidCredentials);
    expectFailure(await catalog.logIn('{'), outcomes.invalidRequestPayload);
    assert.equal((await catalog.logIn()).status, 200, 'the status of a login');
  });

  test('4.1, 4.4', 'Without a valid token, no protected endpoint can be used', async (catalog) => {
    for (const { isPublic, request } of requestEach(Number.MAX_SAFE_INTEGER, '{')) {
      if (isPublic) continue;
      expectFailure(await catalog.send(request), outcomes.tokenRequired);
      const headers = { Authorization: 'nonsense' };
      expectFailure(await catalog.send({ ...request, headers }), outcomes.invalidToken);
    }
  });

  test('6.5, 8.1, 9.3, 10.1', 'A book is created, updated, deleted and then missing', async (catalog) => {
    const book = await createBook(catalog);
    const changed = await catalog.updateBook(book, { year: book.year + 1 });
    await catalog.expectStored(changed);
    await catalog.deleteBook(book.id);
    await catalog.expectMissing(book.id);
    expectFailure(await catalog.call('PUT', `/book/${book.id}`, {}), outcomes.bookNotFound);
    expectFailure(await catalog.call('DELETE', `/book/${book.id}`), outcomes.bookNotFound);
  });

  test('2.2, 2.3, 2.8', 'An invalid or too large body is refused and changes nothing', async (catalog) => {
    const book = await createBook(catalog);
    for (const [method, path] of [['POST', '/book'] as const, ['PUT', `/book/${book.id}`] as const]) {
      for (const body of ['', '{', { ...bookOfTest(), year: 'x' }]) {
        expectFailure(await catalog.call(method, path, body), outcomes.invalidInput);
      }
      const large = { ...bookOfTest(), title: largeTitle };
      if (allows(large)) expectFailure(await catalog.call(method, path, large), outcomes.payloadTooLarge);
    }
    await catalog.expectStored(book);
  });

  test('11.1, 11.3, 11.6', 'A create with a used key is replayed, or refused for other fields', async (catalog) => {
    const fields = bookOfTest();
    const create = (key: string, body: BookFields) => catalog.call('POST', '/book', body, { 'Idempotency-Key': key });
    const key = crypto.randomUUID();
    const book = expectCreated(await create(key, fields), fields);
    const replay = await create(key, fields);
    expectData(replay, book);
    assert.equal(replay.headers['idempotency-replayed'], 'true', 'Idempotency-Replayed');
    expectFailure(await create(key, { ...fields, year: fields.year + 1 }), outcomes.idempotencyKeyUsed);
    expectFailure(await create('', fields), outcomes.invalidIdempotencyKey);
  });

  test('8.3, 12.2, 12.3', 'Entity tags make requests conditional', async (catalog) => {
    const { id } = await createBook(catalog);
    const path = `/book/${id}`;
    const { etag = '' } = (await catalog.call('GET', path)).headers;
    const unchanged = await catalog.call('GET', path, undefined, { 'If-None-Match': etag });
    assert.deepEqual([unchanged.status, unchanged.body.length], [304, 0], 'the status and the bytes of the body');
    for (const method of ['PUT', 'DELETE']) {
      const refused = await catalog.call(method, path, method === 'PUT' ? {} : undefined, { 'If-Match': '"x"' });
      expectFailure(refused, outcomes.preconditionFailed);
    }
    expectData(await catalog.call('DELETE', path, undefined, { 'If-Match': etag }), null);
  });

  test('7.1, 7.3, 7.4, 7.6, 7.9', 'Lists, pages and searches have the books', async (catalog) => {
    const fields = bookOfTest();
    const books = [await catalog.createBook(fields), await catalog.createBook(fields)];
    const after = (books[0] as Book).id - 1;
    const list = expectBooks(await catalog.call('GET', `/books?after=${after}`));
    assert.deepEqual(
      list.filter(({ author }) => author === fields.author),
      books,
      'own books in the list',
    );
    const page = await catalog.call('GET', `/books?limit=1&after=${after}`);
    assert.deepEqual(expectBooks(page), books.slice(0, 1), 'the page');
    assert.equal(page.headers.link, `<?limit=1&after=${books[0]?.id}>; rel="next"`, 'the link of the page');
    const found = await catalog.call('GET', `/books?q=SMOKE%20${fields.author.split(' ').at(-1)}&after=${after}`);
    assert.deepEqual(expectBooks(found), books, 'the books found');
    expectFailure(await catalog.call('GET', '/books?limit=0'), outcomes.invalidInput);
  });

  test('1.6', 'An unknown path is not found', { dependsOnGateway: true }, async (catalog) => {
    expectFailure(await catalog.send({ method: 'GET', path: '/nowhere' }), outcomes.notFound);
  });
}

/** Makes the fields of a book that nobody else has. */
function bookOfTest(): BookFields {
  return { title: 'A smoke test, to be deleted', author: `Smoke test ${crypto.randomUUID()}`, year: 1 };
}

function createBook(catalog: Catalog): Promise<Book> {
  return catalog.createBook(bookOfTest());
}
