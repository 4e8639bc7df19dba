import { expect, test } from 'vitest';
import type { EnvelopeResponse } from '../../../conformance/http-client.ts';
import type { Book, BookFields } from '../../../lib/books/book.ts';
import { useLocalService } from '../../local/use-local-service.ts';
import { aBook } from '../../support/a-book.ts';

const seconds = Number(process.env.LOAD_SECONDS ?? 30);
const userCount = 50;
const booksToStartWith = 20;

/** Books on a page of the list. */
const pageSize = 25;

/** Per cent of all requests. */
const mix = { get: 80, list: 10, update: 6, create: 3, delete: 1 };
const operations = Object.entries(mix).flatMap(([name, percent]) => Array(percent).fill(name));

/** Texts whose letters take one to four bytes, so that a mistake in encoding or length shows. */
const words = ['Emma', 'Zażółć', '紅樓夢', '📚', '"quoted"', 'a\\b', 'line\nbreak'];

const local = await useLocalService();

test(`${userCount} clients for ${seconds} s: every response is right, and the whole catalog at the end`, {
  timeout: (seconds + 120) * 1000,
}, async () => {
  const users = Array.from({ length: userCount }, () => new User());
  for (const user of users) for (let made = 0; made < booksToStartWith; made += 1) await user.create();
  const end = Date.now() + seconds * 1000;
  const work = async (user: User) => {
    while (Date.now() < end) await user.act();
  };
  await Promise.all(users.map(work));

  const books = users.flatMap((user) => [...user.books.values()]).sort((a, b) => a.id - b.id);
  expect(new Set(books.map(({ id }) => id)).size).toBe(books.length);
  expect((await local.send('GET', '/books')).envelope.data).toEqual(books);
});

/** A client that changes only its own books, so it knows each response, however many others use the same catalog. */
class User {
  readonly books = new Map<number, Book>();
  readonly #goneIds: number[] = [];
  #changes = 0;

  /** Sends one request of the mix. */
  async act(): Promise<void> {
    const operation: keyof typeof mix = this.books.size < 2 ? 'create' : drawFrom(operations);
    await this[operation]();
  }

  async create(): Promise<void> {
    const fields = this.#makeFields();
    const book = expectData(await local.send('POST', '/book', fields), 201) as Book;
    expect(book).toEqual({ id: book.id, ...fields });
    expect(this.#goneIds).not.toContain(book.id);
    this.books.set(book.id, book);
  }

  async get(): Promise<void> {
    const book = this.#drawBook();
    expect(expectData(await local.send('GET', `/book/${book.id}`), 200)).toEqual(book);
    const goneId = this.#goneIds.at(-1);
    if (goneId !== undefined) expectData(await local.send('GET', `/book/${goneId}`), 404);
  }

  /** The books of others may come and go on the page; the user's own are as it knows them. */
  async list(): Promise<void> {
    const after = this.#drawBook().id - 1;
    const response = await local.send('GET', `/books?limit=${pageSize}&after=${after}`);
    const ids = (expectData(response, 200) as Book[]).map(({ id }) => id);
    expect(ids).toEqual(ids.filter((id) => id > after).sort((a, b) => a - b));
    const last = ids.at(-1) ?? after;
    if (response.headers.link !== undefined) {
      expect(ids).toHaveLength(pageSize);
      expect(response.headers.link).toContain(`?limit=${pageSize}&after=${last}>`);
    }
    const own = (response.envelope.data as Book[]).filter(({ id }) => this.#knows(id));
    const known = [...this.books.values()].filter(({ id }) => id > after && id <= last);
    expect(own).toEqual(known.sort((a, b) => a.id - b.id));
  }

  async update(): Promise<void> {
    const book = this.#drawBook();
    const name = drawFrom(Object.keys(aBook()) as (keyof BookFields)[]);
    const changed = { ...book, [name]: this.#makeFields()[name] };
    const response = await local.send('PUT', `/book/${book.id}`, { [name]: changed[name] });
    expect(expectData(response, 200)).toEqual(changed);
    this.books.set(book.id, changed);
  }

  async delete(): Promise<void> {
    const { id } = this.#drawBook();
    expect(expectData(await local.send('DELETE', `/book/${id}`), 200)).toBeNull();
    this.books.delete(id);
    this.#goneIds.push(id);
  }

  #knows(id: number): boolean {
    return this.books.has(id) || this.#goneIds.includes(id);
  }

  #drawBook(): Book {
    return drawFrom([...this.books.values()]);
  }

  #makeFields() {
    this.#changes += 1;
    const word = drawFrom(words);
    return aBook({
      title: `${word} ${this.#changes}`,
      author: `${crypto.randomUUID()} ${word}`,
      year: -this.#changes,
    });
  }
}

function expectData({ status, envelope }: EnvelopeResponse, expected: number): unknown {
  expect({ status, envelope }).toMatchObject({ status: expected, envelope: { status: expected } });
  return envelope.data;
}

function drawFrom<Value>(values: readonly Value[]): Value {
  return values[Math.floor(Math.random() * values.length)] as Value;
}
