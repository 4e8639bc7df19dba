import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { CreatedBook } from '../../../lib/books/book.ts';
import type { BookRepository } from '../../../lib/dynamodb/book-repository.ts';
import { outcomeOf } from '../../../lib/error-outcome.ts';
import { invocationSignal } from '../../../lib/invocation-signal.ts';
import { aBook } from '../../support/a-book.ts';
import { openBooks, readCounter } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { type BookRequest, checkHistory, type Operation } from '../check-history.ts';
import {
  current,
  type Machine,
  never,
  openOverNetwork,
  passTime,
  simulateTime,
  sleep,
  type Transmission,
} from './simulated-network.ts';

/** How many histories: the same 1,000 each time, or as many random ones as HISTORIES says. */
const histories = Number(process.env.HISTORIES ?? 1_000);
const timeLimitMs = 120_000 + histories * 1_000;

/** The clocks of instances differ by less than the timeout of an attempt, as docs/reliability.md demands. */
const attemptTimeoutMs = 2_800;
const maxSkewMs = 1_300;

const functionTimeoutMs = 9_900;

/** Their tokens would ascend together in this process. */
vi.mock(import('uuid'), async (importOriginal) => {
  const uuid = await importOriginal();
  const v7 = () => {
    const token = current.getStore()?.lastToken ?? { msecs: 0, seq: 0 };
    const msecs = Math.max(Date.now(), token.msecs);
    return uuid.v7(Object.assign(token, { msecs, seq: msecs > token.msecs ? 0 : token.seq + 1 }));
  };
  return { ...uuid, v7: v7 as typeof uuid.v7 };
});

const soon = fc.nat({ max: 50 });
const late = fc.oneof(fc.nat({ max: 600 }), fc.nat({ max: 4_000 }), fc.nat({ max: 20_000 }));
const broken = fc.oneof(fc.nat({ max: 100 }), fc.constant(never));

/** A healthy network; held or lost requests; lost or late responses. */
const anyTransmission: fc.Arbitrary<Transmission> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ arrives: soon, responds: soon, breaks: fc.constant(never) }) },
  { weight: 3, arbitrary: fc.record({ arrives: late, responds: soon, breaks: broken }) },
  { weight: 1, arbitrary: fc.record({ arrives: fc.constant(never), responds: soon, breaks: broken }) },
  { weight: 2, arbitrary: fc.record({ arrives: soon, responds: fc.constant(never), breaks: broken }) },
  { weight: 1, arbitrary: fc.record({ arrives: soon, responds: late, breaks: fc.constant(never) }) },
);

/** A request of a client. */
interface Step {
  readonly pause: number;
  readonly machine: number;
  readonly kind: 'get' | 'create' | 'create with key' | 'update' | 'delete';
  /** Among the known books. */
  readonly book: number;
  readonly key: number;
  readonly ifMatch: 'none' | 'last' | 'earlier';
  readonly timeoutMs: number;
  readonly transmissions: readonly Transmission[];
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  pause: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 3_500 })),
  machine: fc.nat({ max: 3 }),
  kind: fc.constantFrom('update', 'update', 'update', 'update', 'get', 'delete', 'create', 'create with key'),
  book: fc.constantFrom(0, 0, 0, 0, 0, 1, 2),
  key: fc.nat({ max: 1 }),
  ifMatch: fc.constantFrom('none', 'none', 'none', 'last', 'earlier'),
  timeoutMs: fc.oneof(fc.constant(functionTimeoutMs), fc.constant(functionTimeoutMs), fc.nat({ max: 6_000 })),
  transmissions: fc.array(anyTransmission, { maxLength: 5 }),
});

const anySkew = fc.integer({ min: -maxSkewMs, max: maxSkewMs });
const anySkews = fc.array(anySkew, { minLength: 4, maxLength: 4 });
const anyClients = fc.array(fc.array(anyStep, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 5 });

/** What all clients did, and what they know of the books. */
interface History {
  readonly readClock: () => number;
  readonly operations: Operation[];
  readonly ids: number[];
  readonly tags: Map<number, string[]>;
}

type Request = Exclude<BookRequest, { type: 'list' }>;

/** Makes the request of a step. Its year is unique, so that a book shows whose update it has. */
function chooseRequest({ kind, book, key, ifMatch }: Step, { operations, ids, tags }: History): Request {
  const id = ids[book % ids.length] as number;
  if (kind === 'get') return { type: kind, id };
  if (kind === 'create') return { type: kind, fields: aBook({ title: `number ${operations.length}` }) };
  if (kind === 'create with key') {
    const title = `key ${ids[0]} ${key}`;
    return { type: 'create', fields: aBook({ title }), key: title };
  }
  const seen = tags.get(id) ?? [];
  const condition = ifMatch === 'none' ? {} : { ifMatch: [seen.at(ifMatch === 'last' ? -1 : -2) ?? 'none'] };
  if (kind === 'delete') return { type: kind, id, ...condition };
  return { type: kind, id, changes: { year: operations.length }, ...condition };
}

type Result = Partial<CreatedBook> & { readonly status?: number };

async function send(books: BookRepository, request: Request): Promise<Result> {
  if (request.type === 'get') return books.get(request.id);
  if (request.type === 'update') return books.update(request.id, request.changes, request.ifMatch);
  if (request.type === 'delete') return books.delete(request.id, request.ifMatch).then(() => ({}));
  return books.create(request.fields, request.key);
}

/** Carries out a request, and keeps its response in the history. */
async function take(books: BookRepository, request: Request, timeoutMs: number, history: History): Promise<void> {
  const { readClock, operations, ids, tags } = history;
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const invoked = readClock();
  // Reserves the number of the operation.
  const index = operations.push({ ...request, invoked, returned: never, status: 0 }) - 1;
  const success = request.type === 'create' ? 201 : 200;
  const {
    status = success,
    book,
    version: tag,
    replayed,
  } = await invocationSignal
    .run(timeout.signal, () => send(books, request))
    .catch((error: unknown): Result => ({ status: outcomeOf(error).status }));
  clearTimeout(timer);
  const returned = readClock();
  operations[index] = {
    ...{ ...request, invoked, status, book, tag, replayed },
    returned: status === 503 ? never : returned,
    deadline: 'ifMatch' in request ? never : returned + attemptTimeoutMs + 2 * maxSkewMs,
  };
  if (book && !ids.includes(book.id)) ids.push(book.id);
  if (book && tag) tags.set(book.id, [...new Set([...(tags.get(book.id) ?? []), tag])]);
}

const tables = await useTables();

test(
  `no write is lost, undone or carried out twice in ${histories} histories with lost, held and late messages`,
  async () => {
    const table = await tables.open();
    const direct = openBooks(table);
    const overNetwork = Array.from({ length: 4 }, () => openOverNetwork(tables.endpoint, table.tableName));
    const readClock = simulateTime();

    await fc.assert(
      fc.asyncProperty(anySkews, anyClients, async (skews, clients) => {
        const firstId = ((await readCounter(table)) ?? 0) + 1;
        const history: History = { readClock, operations: [], ids: [firstId], tags: new Map() };
        const takeDirectly = async (request: Request) => {
          await take(direct, request, functionTimeoutMs, history);
          // The next operation is later than this one.
          vi.advanceTimersByTime(1);
        };
        await takeDirectly({ type: 'create', fields: aBook({ title: `first ${firstId}` }) });

        const machines = skews.map((skew) => ({ skew, lastToken: { msecs: 0, seq: 0 } }));
        const runClient = async (steps: readonly Step[]) => {
          for (const step of steps) {
            await sleep(step.pause);
            const machine = { ...(machines[step.machine] as Machine), transmissions: [...step.transmissions] };
            const books = overNetwork[step.machine] as BookRepository;
            const request = chooseRequest(step, history);
            await current.run(machine, () => take(books, request, step.timeoutMs, history));
          }
        };
        await passTime(Promise.all(clients.map(runClient)));

        const lastId = (await readCounter(table)) ?? 0;
        for (let id = firstId; id <= lastId; id += 1) await takeDirectly({ type: 'get', id });
        expect(checkHistory(history.operations)).toEqual([]);
      }),
      { numRuns: histories, ...(process.env.HISTORIES === undefined && { seed: 6 }) },
    );
  },
  timeLimitMs,
);
