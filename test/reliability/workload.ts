import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fragments } from '../../conformance/fragments.ts';
import { request } from '../../conformance/http-client.ts';
import { aBook } from '../support/a-book.ts';
import { validToken } from '../support/local-service.ts';
import type { BookRequest, Operation } from './check-history.ts';
import { type Ask, record } from './record.ts';

/** Refused clients wait, to leave the processors to a restart. */
const pauseAfterFailureMs = 50;

/** Books on a page of the list. */
const pageSize = 25;

type Create = Extract<BookRequest, { type: 'create' }>;

interface Options {
  readonly clients: number;
  /** The latest books, which clients share. */
  readonly booksInUse: number;
  /** Per cent of all requests; `repeat` is a create that was acknowledged, with the same key. */
  readonly mix: Readonly<Record<BookRequest['type'] | 'repeat', number>>;
}

/** Clients that create, read, change and delete books, and the history of their operations. Restarts change the base URL. */
export class Workload {
  readonly operations: Operation[] = [];
  readonly #options: Options;
  readonly #kinds: readonly string[];
  readonly #books: { readonly id: number; readonly create: Create }[] = [];
  /** The creates without a response, which are retried with their keys. */
  readonly #openCreates: Create[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#kinds = Object.entries(options.mix).flatMap(([kind, percent]) => Array(percent).fill(kind));
  }

  get acknowledgedWrites(): number {
    const writes = this.operations.filter(({ type }) => /create|update|delete/.test(type));
    return writes.filter(({ status }) => status === 200 || status === 201).length;
  }

  /** Runs all clients until `stop`; each of them waits for its last response. */
  async run(baseUrl: string, stop: AbortSignal): Promise<void> {
    const work = async () => {
      while (!stop.aborted) {
        const { returned } = await this.#take(baseUrl, this.#openCreates.pop() ?? this.#choose());
        if (returned === Number.POSITIVE_INFINITY) await sleep(pauseAfterFailureMs);
      }
    };
    await Promise.all(Array.from({ length: this.#options.clients }, work));
  }

  /** Reads all books. @returns the status of the response */
  async list(baseUrl: string): Promise<number> {
    return (await this.#take(baseUrl, { type: 'list' })).status;
  }

  /** Retries the creates without a response. */
  async completeCreates(baseUrl: string): Promise<void> {
    for (let open = this.#openCreates.pop(); open !== undefined; open = this.#openCreates.pop()) {
      await this.#take(baseUrl, open);
    }
  }

  async #take(baseUrl: string, chosen: BookRequest): Promise<Operation> {
    const operation = await record(askAt(baseUrl), chosen);
    this.operations.push(operation);
    if (chosen.type !== 'create') return operation;
    if (operation.returned === Number.POSITIVE_INFINITY) this.#openCreates.push(chosen);
    const { book } = operation;
    const isNew = book && !this.#books.some(({ id }) => id === book.id);
    if (isNew) this.#books.push({ id: book.id, create: chosen });
    if (this.#books.length > this.#options.booksInUse) this.#books.shift();
    return operation;
  }

  #choose(): BookRequest {
    const { id, create } = this.#books[randomInt(this.#options.booksInUse)] ?? {};
    const kind = this.#kinds[randomInt(this.#kinds.length)];
    if (id === undefined || create === undefined || kind === 'create') {
      const title = randomUUID();
      return { type: 'create', fields: aBook({ title, author: 'first', year: 1 }), key: title };
    }
    if (kind === 'repeat') return create;
    if (kind === 'list') return { type: kind, after: id - 1, limit: pageSize };
    if (kind === 'get' || kind === 'delete') return { type: kind, id };
    const author = `${fragments[randomInt(fragments.length)]} ${randomUUID()}`;
    const changes = [{ author }, { year: randomInt(1_000_000) }];
    return { type: 'update', id, changes: changes[randomInt(2)] ?? {} };
  }
}

function askAt(baseUrl: string): Ask {
  return async (method, path, body, headers) => {
    const content = body && { body: JSON.stringify(body) };
    try {
      const allHeaders = { Authorization: validToken, ...headers };
      const response = await request(baseUrl + path, { method, headers: allHeaders, ...content });
      return { ...response, headers: new Headers(response.headers as Record<string, string>) };
    } catch (error) {
      // Otherwise the connection broke.
      if ((error as Error).cause === undefined) throw error;
      return { status: 0, headers: new Headers(), envelope: { data: null } };
    }
  };
}
