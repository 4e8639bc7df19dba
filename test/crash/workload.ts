import { randomInt, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../lib/books/book.ts';
import type { Operation } from './history.ts';

/** Where the clients find the service, which changes when it is started again. */
export interface Target {
  readonly baseUrl: string;
  readonly headers: { readonly Authorization: string };
}

const clients = 8;

/** Few books at a time, so that clients meet at them. */
const booksInUse = 6;

/** Clients that were refused wait a moment, or they would keep the processors from the restart. */
const pauseAfterFailureMs = 50;

/** What came back; nothing when the connection broke. */
type Answer = Pick<Operation, 'invoked' | 'returned' | 'status'> & { readonly data: unknown };

/** Clients that create, read, change and delete books, and remember what they were told. */
export class Workload {
  /** What happened so far. */
  readonly operations: Operation[] = [];
  readonly #ids: number[] = [];

  /** How many writes were acknowledged so far. */
  get acknowledgedWrites(): number {
    return this.operations.filter(
      ({ type, status }) => /create|update|delete/.test(type) && /20./.test(`${status}`),
    ).length;
  }

  /**
   * Lets all clients work.
   *
   * @param target - the service
   * @param stop - ends the work; each client waits for the answer that it is owed
   */
  async run(target: Target, stop: AbortSignal): Promise<void> {
    const work = async () => {
      while (!stop.aborted) {
        const operation = await this.#doSomething(target);
        this.operations.push(operation);
        if (operation.returned === Number.POSITIVE_INFINITY) await sleep(pauseAfterFailureMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
  }

  /**
   * Reads all books, as an operation of the history.
   *
   * @param target - the service
   * @returns the status of the answer
   */
  async list(target: Target): Promise<number> {
    const { data, ...answer } = await ask(target, 'GET', '/books');
    this.operations.push({ type: 'list', ...answer, books: (data ?? []) as Book[] });
    return answer.status;
  }

  async #doSomething(target: Target): Promise<Operation> {
    const id = this.#ids[randomInt(Math.max(this.#ids.length, 1))];
    const dice = randomInt(10);
    if (id === undefined || dice < 3) return this.#create(target);
    if (dice < 6) return { type: 'get', id, ...asBook(await ask(target, 'GET', `/book/${id}`)) };
    if (dice < 9) {
      const changes = { author: randomUUID(), year: randomInt(1_000_000) };
      return { type: 'update', id, changes, ...asBook(await ask(target, 'PUT', `/book/${id}`, changes)) };
    }
    return { type: 'delete', id, ...asBook(await ask(target, 'DELETE', `/book/${id}`)) };
  }

  async #create(target: Target): Promise<Operation> {
    const fields = { title: randomUUID(), author: 'first', year: 1 };
    const answer = asBook(await ask(target, 'POST', '/book', fields));
    if (answer.book) this.#ids.push(answer.book.id);
    if (this.#ids.length > booksInUse) this.#ids.shift();
    return { type: 'create', fields, ...answer };
  }
}

async function ask(
  { baseUrl, headers }: Target,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const invoked = performance.now();
  try {
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { status, data } = (await response.json()) as { status: number; data: unknown };
    const returned = status === 503 ? Number.POSITIVE_INFINITY : performance.now();
    return { invoked, returned, status, data };
  } catch {
    return { invoked, returned: Number.POSITIVE_INFINITY, status: 0, data: null };
  }
}

function asBook({ data, ...answer }: Answer): Omit<Answer, 'data'> & { readonly book?: Book } {
  return data === null ? answer : { ...answer, book: data as Book };
}
