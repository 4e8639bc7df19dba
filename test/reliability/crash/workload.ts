import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Book } from '../../../lib/books/book.ts';
import { validToken } from '../../../tools/local/local-service.ts';
import { aBook } from '../../support/a-book.ts';
import type { Operation } from '../check-history.ts';

const clients = 8;

/** Few books at a time, so that clients share them. */
const booksInUse = 6;

/** Refused clients wait, to leave the processors to the restart. */
const pauseAfterFailureMs = 50;

/** One of this many acknowledged creates is repeated with its key. */
const repeatEvery = 4;

/** A create without a response, which is retried with its key. */
type OpenCreate = Pick<Extract<Operation, { type: 'create' }>, 'fields' | 'invoked'>;

/** Clients that create, read, change and delete books, and the history of their operations. Restarts change the base URL. */
export class Workload {
  readonly operations: Operation[] = [];
  /** The responses to repeated creates that differ from the first one, in sentences. */
  readonly violations: string[] = [];
  readonly #ids: number[] = [];
  readonly #openCreates: OpenCreate[] = [];
  readonly #created: Book[] = [];

  get acknowledgedWrites(): number {
    const writes = this.operations.filter(({ type }) => /create|update|delete/.test(type));
    return writes.filter(({ status }) => status === 200 || status === 201).length;
  }

  /** Runs all clients until `stop`; each of them waits for its last response. */
  async run(baseUrl: string, stop: AbortSignal): Promise<void> {
    const work = async () => {
      while (!stop.aborted) {
        const operation = await this.#doSomething(baseUrl);
        this.operations.push(operation);
        if (operation.returned === Number.POSITIVE_INFINITY) await sleep(pauseAfterFailureMs);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
  }

  /** Reads all books, as an operation of the history. @returns the status of the response */
  async list(baseUrl: string): Promise<number> {
    const { data, ...response } = await ask(baseUrl, 'GET', '/books');
    this.operations.push({ type: 'list', ...response, books: (data ?? []) as Book[] });
    return response.status;
  }

  /** Retries the creates without a response. */
  async completeCreates(baseUrl: string): Promise<void> {
    for (let open = this.#openCreates.pop(); open !== undefined; open = this.#openCreates.pop()) {
      this.operations.push(await this.#create(baseUrl, open));
    }
  }

  async #doSomething(baseUrl: string): Promise<Operation> {
    const open = this.#openCreates.pop();
    if (open !== undefined) return this.#create(baseUrl, open);
    const repeated = this.#created[randomInt(this.#created.length + 1)];
    if (repeated !== undefined && randomInt(repeatEvery) === 0) await this.#repeat(baseUrl, repeated);
    const id = this.#ids[randomInt(Math.max(this.#ids.length, 1))];
    const dice = randomInt(10);
    if (id === undefined || dice < 3) return this.#create(baseUrl);
    if (dice < 6) return { type: 'get', id, ...asBook(await ask(baseUrl, 'GET', `/book/${id}`)) };
    if (dice < 9) {
      const changes = { author: randomUUID(), year: randomInt(1_000_000) };
      return { type: 'update', id, changes, ...asBook(await ask(baseUrl, 'PUT', `/book/${id}`, changes)) };
    }
    return { type: 'delete', id, ...asBook(await ask(baseUrl, 'DELETE', `/book/${id}`)) };
  }

  /** Its title is the idempotency key, so a retry creates no second book. */
  async #create(baseUrl: string, open?: OpenCreate): Promise<Operation> {
    const fields = open?.fields ?? aBook({ title: randomUUID(), author: 'first', year: 1 });
    const response = asBook(await ask(baseUrl, 'POST', '/book', fields, fields.title));
    const invoked = open?.invoked ?? response.invoked;
    if (response.returned === Number.POSITIVE_INFINITY) this.#openCreates.push({ fields, invoked });
    if (response.book) {
      this.#ids.push(response.book.id);
      this.#created.push(response.book);
    }
    if (this.#ids.length > booksInUse) this.#ids.shift();
    return { type: 'create', fields, ...response, invoked };
  }

  /** The response repeats the first one, whatever happened to the book since. */
  async #repeat(baseUrl: string, { id, ...fields }: Book): Promise<void> {
    const { status, data } = await ask(baseUrl, 'POST', '/book', fields, fields.title);
    if (status === 0 || status === 503) return;
    if (status !== 201 || !isDeepStrictEqual(data, { id, ...fields })) {
      this.violations.push(`create of book ${id}, repeated: ${status} ${JSON.stringify(data)}`);
    }
  }
}

async function ask(baseUrl: string, method: string, path: string, body?: object, key?: string) {
  const invoked = performance.now();
  const { status, data } = await fetch(baseUrl + path, {
    method,
    headers: { Authorization: validToken, ...(key && { 'Idempotency-Key': key }) },
    ...(body && { body: JSON.stringify(body) }),
  })
    .then((response) => response.json() as Promise<{ readonly status: number; readonly data: unknown }>)
    // The connection broke.
    .catch(() => ({ status: 0, data: null }));
  const returned = status === 0 || status === 503 ? Number.POSITIVE_INFINITY : performance.now();
  return { invoked, returned, status, data };
}

function asBook({ data, ...response }: Awaited<ReturnType<typeof ask>>) {
  return { ...response, book: (data ?? undefined) as Book | undefined };
}
