import assert from 'node:assert/strict';
import type { Test } from '../case.ts';
import { type Book, pickBooks } from '../catalog.ts';
import { expectData, expectFailure, expectSuccess } from '../expect.ts';
import { inParallel } from '../in-parallel.ts';
import { outcomes } from '../outcomes.ts';

const rounds = 6;
const changesOfWorker = 3;
const workers = 3;

/** Concurrent requests. The runner runs these cases one at a time. */
export default function addCases(test: Test): void {
  test('9.4', 'Updates of different fields of a book at the same time are all kept', async (catalog) => {
    const book = await catalog.createBook();
    for (let year = 1; year <= rounds; year += 1) {
      const [title, author] = [`title ${year}`, `author ${year}`];
      const changes = [{ title }, { author }, { year }];
      const update = (turn: number) => catalog.call('PUT', `/book/${book.id}`, changes[turn]);
      const responses = await inParallel(changes.length, changes.length, update);
      for (const response of responses) expectSuccess(response);
      await catalog.expectStored({ ...book, title, author, year });
    }
  });

  test('10.3', 'Of ten deletions of a book at the same time, one succeeds', async (catalog) => {
    for (let round = 0; round < rounds; round += 1) {
      const { id } = await catalog.createBook();
      const responses = await inParallel(10, 10, () => catalog.call('DELETE', `/book/${id}`));
      const winner = responses.findIndex(({ status }) => status === 200);
      responses.forEach((response, index) => {
        if (index === winner) expectData(response, null);
        else expectFailure(response, outcomes.bookNotFound);
      });
      await catalog.expectMissing(id);
    }
  });

  test('3.6, 9.1', 'Updates at the same time as a deletion never bring the book back', async (catalog) => {
    let roundsWithFailure = 0;
    for (let year = 0; year < rounds; year += 1) {
      const book = await catalog.createBook();
      const path = `/book/${book.id}`;
      const changes = { title: 'late', year };
      const responses = await inParallel(7, 7, (turn) =>
        turn === 3 ? catalog.call('DELETE', path) : catalog.call('PUT', path, changes),
      );
      // A lost write to a book that others change is a 503, and may have been carried out (rule 14.2).
      const failures = responses.filter(({ status }) => status === 503);
      if (failures.length > 0) roundsWithFailure += 1;
      if (failures.some(({ request }) => request.method === 'DELETE')) await catalog.call('DELETE', path);
      for (const response of responses) {
        if (response.status === 503) expectFailure(response, outcomes.serviceUnavailable);
        else if (response.request.method === 'DELETE') expectData(response, null);
        else if (response.status !== 200) expectFailure(response, outcomes.bookNotFound);
        else expectData(response, { ...book, ...changes });
      }
      await catalog.expectMissing(book.id);
      assert.deepEqual(pickBooks(await catalog.listFrom(book.id), [book]), [], 'the book in the list');
    }
    assert.ok(roundsWithFailure < rounds, 'a 503 in each round is not that of a lost write');
  });

  test('7.2, 3.7', 'A list taken while books come and go holds every book that stays', async (catalog) => {
    // Their deletion moves those that stay, for a list that is read by offset.
    const leaving = await catalog.createBooks(workers * changesOfWorker);
    const first = leaving[0]?.id ?? 1;
    const staying = await catalog.createBooks(5);
    let isChanging = true;
    const comeAndGo = async (worker: number) => {
      for (const { id } of leaving.filter((_, index) => index % workers === worker)) {
        await catalog.deleteBook(id);
        await catalog.createMissingId();
      }
    };
    const list = async () => {
      while (isChanging)
        assert.deepEqual(pickBooks(await catalog.listFrom(first), staying), staying, 'those that stay');
    };
    const change = async () => {
      await inParallel(workers, workers, comeAndGo).finally(() => {
        isChanging = false;
      });
    };
    await inParallel(2, 2, (turn) => (turn === 0 ? list() : change()));
  });

  test('9.5', 'A book that is read during an update is the old one or the new one', async (catalog) => {
    const { id } = await catalog.createBook({ title: '0', author: '0', year: 0 });
    const path = `/book/${id}`;
    await inParallel(60, 6, async (year) => {
      const whole = { title: `${year}`, author: `${year}`, year };
      const isUpdate = year % 2 === 0;
      const response = await (isUpdate ? catalog.call('PUT', path, whole) : catalog.call('GET', path));
      const book = expectSuccess(response) as Book;
      const isWhole = book.title === String(book.year) && book.author === String(book.year);
      assert.ok(isWhole, `title, author and year are those of one update, got ${JSON.stringify(book)}`);
    });
  });
}
