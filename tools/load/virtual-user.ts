import assert from 'node:assert/strict';
import type { Book, BookFields } from '../../lib/books/book.ts';
import type { ConformanceContext } from '../../test/conformance/context.ts';

export type Operation = 'get' | 'list' | 'update' | 'create' | 'delete';

/** Per cent of all requests. */
const mix: Readonly<Record<Operation, number>> = { get: 80, list: 10, update: 6, create: 3, delete: 1 };

const operations = Object.entries(mix).flatMap(([name, percent]) => Array(percent).fill(name)) as Operation[];

/** Books on a page of the list, as a client that scrolls would request. */
const pageSize = 25;

/** One of so many gets is for a book that is gone. */
const missingEvery = 10;

/** Texts whose letters take one to four bytes, so that a mistake in encoding or length shows. */
const words = ['Emma', 'Zażółć', '紅樓夢', '📚', '"quoted"', 'a\\b', 'line\nbreak'];

/** Sends a request with a token, whose response has to be one that openapi.yaml describes. */
export async function ask(
  context: ConformanceContext,
  method: string,
  path: string,
  expectedStatus: number,
  body?: object,
) {
  const { status, headers, body: bytes } = await context.call(method, path, body);
  assert.equal(status, expectedStatus, `${method} ${path}: ${status} ${bytes.toString().slice(0, 300)}`);
  return { headers, data: JSON.parse(bytes.toString()).data as unknown };
}

/**
 * A client that changes only books of its own and so knows at any time what each of its responses has to be, however many
 * others work on the same catalog.
 */
export class VirtualUser {
  /** The books that this user made and that have to be there, by id. */
  readonly books = new Map<number, Book>();
  /** The ids of the books that this user deleted. */
  readonly goneIds: number[] = [];
  readonly #context: ConformanceContext;
  #changes = 0;

  constructor(context: ConformanceContext) {
    this.#context = context;
  }

  /** Sends one request of the mix and checks the whole response. */
  async act(): Promise<Operation> {
    const operation = this.books.size < 2 ? 'create' : (drawFrom(operations) ?? 'get');
    await this[operation]();
    return operation;
  }

  async get(): Promise<void> {
    const goneId = Math.random() * missingEvery < 1 ? drawFrom(this.goneIds) : undefined;
    const book = this.#drawBook();
    if (goneId !== undefined) await ask(this.#context, 'GET', `/book/${goneId}`, 404);
    else assert.deepEqual((await ask(this.#context, 'GET', `/book/${book.id}`, 200)).data, book);
  }

  /** Others' books come and go on the page; one's own are there exactly as they are known to be. */
  async list(): Promise<void> {
    const after = this.#drawBook().id - 1;
    const path = `/books?limit=${pageSize}&after=${after}`;
    const { data, headers } = await ask(this.#context, 'GET', path, 200);
    const page = data as Book[];
    const last = page.at(-1)?.id ?? after;
    const isInOrder = page.every(({ id }, index) => id > (page[index - 1]?.id ?? after));
    assert.ok(isInOrder && page.length > 0 && page.length <= pageSize, `${path}: ${JSON.stringify(page)}`);
    if (headers.link !== undefined) {
      assert.equal(page.length, pageSize, `${path}: not the last page`);
      assert.ok(String(headers.link).includes(`limit=${pageSize}&after=${last}>`), `Link: ${headers.link}`);
    }
    const own = page.filter(({ id }) => this.books.has(id) || this.goneIds.includes(id));
    const known = [...this.books.values()].filter(({ id }) => id > after && id <= last);
    known.sort((a, b) => a.id - b.id);
    assert.deepEqual(own, known, `${path}: own books`);
  }

  async update(): Promise<void> {
    const book = this.#takeBook();
    const name = drawFrom(['title', 'author', 'year'] as const) ?? 'title';
    const change = { [name]: this.#makeFields()[name] };
    const { data } = await ask(this.#context, 'PUT', `/book/${book.id}`, 200, change);
    assert.deepEqual(data, { ...book, ...change });
    this.books.set(book.id, data as Book);
  }

  async create(): Promise<void> {
    const fields = this.#makeFields();
    const book = (await ask(this.#context, 'POST', '/book', 201, fields)).data as Book;
    assert.deepEqual(book, { id: book.id, ...fields });
    assert.ok(!this.books.has(book.id) && !this.goneIds.includes(book.id), `id ${book.id} was given twice`);
    this.books.set(book.id, book);
  }

  async delete(): Promise<void> {
    const { id } = this.#takeBook();
    await ask(this.#context, 'DELETE', `/book/${id}`, 200);
    this.goneIds.push(id);
  }

  #drawBook(): Book {
    const book = drawFrom([...this.books.values()]);
    assert.ok(book, 'there is no book to draw');
    return book;
  }

  /** Until the response has been checked nobody knows what has become of the book; after a wrong one, never again. */
  #takeBook(): Book {
    const book = this.#drawBook();
    this.books.delete(book.id);
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

function drawFrom<Value>(values: readonly Value[]): Value | undefined {
  return values[Math.floor(Math.random() * values.length)];
}
