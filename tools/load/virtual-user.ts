import assert from 'node:assert/strict';
import {
  type Book,
  type BookFields,
  expectBooks,
  expectCreated,
  expectStored,
} from '../../test/conformance/books.ts';
import type { ConformanceContext } from '../../test/conformance/context.ts';
import { expectResponse } from '../../test/conformance/expect.ts';
import { outcomes } from '../../test/conformance/outcomes.ts';
import type { Measurements, Operation } from './measurements.ts';

/** Percent of all requests. */
const mix: readonly (readonly [Operation, number])[] = [
  ['get', 80],
  ['list', 10],
  ['update', 6],
  ['create', 3],
  ['delete', 1],
];

/** Books on a page of the list, as a client that scrolls would ask for. */
const pageSize = 25;

/** One of so many gets asks for a book that is gone. */
const missingEvery = 10;

/** Texts whose letters take one to four bytes, so that a mistake in encoding or length shows. */
const words = ['Emma', 'Zażółć', '紅樓夢', '📚', '"quoted"', 'a\\b', 'line\nbreak'];

/**
 * A client that changes only books of its own and so knows at any time what each of its answers has to be, however
 * many others work on the same catalog.
 */
export class VirtualUser {
  readonly #context: ConformanceContext;
  readonly #measurements: Measurements;
  readonly #books = new Map<number, Book>();
  readonly #goneIds: number[] = [];
  #changes = 0;

  /**
   * @param context - the way to the service
   * @param measurements - where every answer is counted
   */
  constructor(context: ConformanceContext, measurements: Measurements) {
    this.#context = context;
    this.#measurements = measurements;
  }

  /** The books that this user made and that have to be there, by id. */
  get books(): ReadonlyMap<number, Book> {
    return this.#books;
  }

  /** The ids of the books that this user deleted. */
  get goneIds(): readonly number[] {
    return this.#goneIds;
  }

  /**
   * Makes books to start with; they are not measured.
   *
   * @param count - how many
   */
  async prepare(count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) await this.#create();
  }

  /**
   * Sends one request of the mix and checks the whole answer.
   *
   * @throws an AssertionError when it is not what it has to be; any other error when there is none
   */
  async act(): Promise<void> {
    const operation = this.#books.size < 2 ? 'create' : drawOperation();
    const startedAt = performance.now();
    await this.#operations[operation]();
    this.#measurements.record(operation, performance.now() - startedAt);
  }

  readonly #operations: Readonly<Record<Operation, () => Promise<void>>> = {
    get: async () => {
      const goneId = Math.random() * missingEvery < 1 ? drawFrom(this.#goneIds) : undefined;
      if (goneId === undefined) return expectStored(this.#context, this.#drawBook());
      expectResponse(await this.#context.call('GET', `/book/${goneId}`), outcomes.bookNotFound);
    },
    list: () => this.#listPage(),
    update: async () => {
      const { id, ...fields } = this.#takeBook();
      const all = this.#makeFields();
      const name = drawFrom(['title', 'author', 'year'] as const) ?? 'title';
      const changed = { id, ...fields, [name]: all[name] };
      const answer = await this.#context.call('PUT', `/book/${id}`, { [name]: all[name] });
      expectResponse(answer, outcomes.bookUpdated, changed);
      this.#books.set(id, changed);
    },
    create: () => this.#create(),
    delete: async () => {
      const { id } = this.#takeBook();
      expectResponse(await this.#context.call('DELETE', `/book/${id}`), outcomes.bookDeleted);
      this.#goneIds.push(id);
    },
  };

  async #create(): Promise<void> {
    const fields = this.#makeFields();
    const book = expectCreated(await this.#context.call('POST', '/book', fields), fields);
    const isNew = !this.#books.has(book.id) && !this.#goneIds.includes(book.id);
    assert.ok(isNew, `the id of a created book is new, got ${book.id}`);
    this.#books.set(book.id, book);
  }

  /** Others' books come and go on the page; one's own are there exactly as they are known to be. */
  async #listPage(): Promise<void> {
    const after = this.#drawBook().id - 1;
    const answer = await this.#context.call('GET', `/books?limit=${pageSize}&after=${after}`);
    const page = expectBooks(answer);
    const last = page.at(-1)?.id ?? after;
    assert.ok(page.length > 0 && page.length <= pageSize, `1 to ${pageSize} books, got ${page.length}`);
    assert.ok((page[0]?.id ?? 0) > after, `the page begins after ${after}, got ${page[0]?.id}`);
    const link = answer.headers.link;
    if (link !== undefined) {
      assert.equal(page.length, pageSize, 'the books of a page that is not the last');
      const isNext = link.includes(`limit=${pageSize}&after=${last}>`);
      assert.ok(isNext, `the link of the page has after=${last}, got ${link}`);
    }
    const isOwn = (id: number) => this.#books.has(id) || this.#goneIds.includes(id);
    const listed = page.filter(({ id }) => isOwn(id));
    const known = [...this.#books.values()].filter(({ id }) => id > after && id <= last);
    known.sort((a, b) => a.id - b.id);
    assert.deepEqual(listed, known, 'own books on the page');
  }

  #drawBook(): Book {
    const id = drawFrom([...this.#books.keys()]);
    const book = this.#books.get(id ?? 0);
    if (book === undefined) throw new Error('there is no book to draw');
    return book;
  }

  /** Until the answer has been checked nobody knows what has become of the book; after a wrong one, never again. */
  #takeBook(): Book {
    const book = this.#drawBook();
    this.#books.delete(book.id);
    return book;
  }

  #makeFields(): BookFields {
    this.#changes += 1;
    const word = drawFrom(words) ?? '';
    return {
      title: `${word} ${this.#changes}`,
      author: `${crypto.randomUUID()} ${word}`,
      year: -this.#changes,
    };
  }
}

function drawOperation(): Operation {
  let rest = Math.random() * 100;
  for (const [operation, percent] of mix) {
    rest -= percent;
    if (rest < 0) return operation;
  }
  return 'get';
}

function drawFrom<Value>(values: readonly Value[]): Value | undefined {
  return values[Math.floor(Math.random() * values.length)];
}
