import { setImmediate } from 'node:timers/promises';
import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from 'dynalite/db/index.js';
import type { Book, CreatedBook } from '../../../lib/books/book.ts';
import { clientOutcomeOf } from '../../../lib/client-outcome.ts';
import { BookList } from '../../../lib/dynamodb/books/book-list.ts';
import { BookRepository } from '../../../lib/dynamodb/books/book-repository.ts';
import { parseStoredBook } from '../../../lib/dynamodb/books/stored-book.ts';
import { bookKey, counterKey } from '../../../lib/dynamodb/table/keys.ts';
import { Table } from '../../../lib/dynamodb/table/table.ts';
import { invocationSignal } from '../../../lib/invocation-signal.ts';
import { type Command, isRead, MemoryTable, respondTo, type Values, writesOf } from '../../fakes/memory-table.ts';
import { aBook } from '../../support/a-book.ts';
import { openBySending } from '../../support/table-by-request.ts';
import { type BookRequest, checkHistory, type Operation } from '../check-history.ts';
import type { World } from './explore.ts';

type Response = Partial<CreatedBook> & {
  readonly status: number;
  readonly books?: readonly Book[];
  readonly continueAfter?: number | null;
  /** The error behind a failure, and where it was thrown. */
  readonly trace?: string | undefined;
};

/** Makes a request of a client. Its number differs from that of every other, so that a book shows whose update it has. */
export type Step = (number: number, tags: { readonly first: string; readonly own: string }) => BookRequest;

export interface Scenario {
  /** The requests of each client, one after the other. */
  readonly clients: readonly (readonly Step[])[];
  /** How many faults an execution has at most. */
  readonly faults: number;
  /** How many of the clients meet faults; all by default. */
  readonly faulty?: number;
  /** The ids of the books that are there first; 1 by default. The counter has the last one. An empty table has no counter. */
  readonly ids?: readonly number[];
  /** Where a page of a Query ends at the latest. */
  readonly itemsOfPage?: number;
  /** Changes the condition of each write: plants a fault in the repository. */
  readonly alter?: (condition: string) => string;
}

/** What happens to a message. */
export interface Event {
  readonly fate: 'is carried out' | 'arrives twice' | 'breaks off' | 'ends its invocation' | 'arrives late';
  readonly message: Message;
}

/** A request to the table. */
interface Message {
  readonly client: Client;
  readonly command: Command;
  readonly respond: (output: object) => void;
  readonly fail: (error: unknown) => void;
}

/** A request of a client, when it began and ended, and what it met. */
interface Task {
  readonly name: string;
  readonly request: BookRequest;
  invoked: number;
  ended: number;
  response?: Response;
  breaks: number;
  isCutOff: boolean;
  /** What a list sent and received, in no order: it waits for several pages at once, and takes them in the order of ids. */
  readonly pages: unknown[];
}

interface Client {
  readonly index: number;
  readonly name: string;
  readonly books: BookRepository;
  readonly list: BookList;
  /** The requests that it has not made yet. */
  readonly steps: Step[];
  readonly tags: { readonly first: string; own: string };
  /** What it sent and received. Its state follows from that. */
  readonly log: unknown[];
  writes: number;
  task?: Task;
  invocation: AbortController;
}

const never = Number.POSITIVE_INFINITY;
const firstTagOf = (id: number) => `first ${id}`;
const firstFieldsOf = (id: number) => aBook({ title: `first ${id}`, author: 'first' });

/** The attempts that a request may lose before it fails (lib/dynamodb/table/attempts.ts). */
const maxBreaks = 3;

/** More than a client sends and receives in any scenario. */
const maxLogLength = 100;

/** The client whose code runs. */
let running: Client | undefined;

/** Makes the version of a write: the same one in each execution. */
export function makeVersion(): string {
  const client = running as Client;
  client.writes += 1;
  return `${client.name} ${client.writes}`;
}

/**
 * A world small enough to walk all orders of its events: one table with a few books, and one to three clients. Each client is
 * on a machine of its own with the real repository and list, and makes one to three requests.
 *
 * **What is chosen.** Which message the table carries out next. A write may also break off, or end the invocation of its client
 * with it: the client gets no response, and the message arrives at any later moment, or never. So a lost response is a message
 * that breaks off and arrives at once, and one that is held arrives after its request has ended. Or a write arrives twice, and its
 * client gets the second response, which is a refusal by the write itself.
 *
 * The reads of a list break off, too, or end its invocation.
 *
 * **What is not chosen.** Other reads never break off, because they would only be repeated. Draws of ids do not, either: a lost
 * draw leaves a gap between ids. Pauses take no time, because whatever happens meanwhile is a matter of order.
 *
 * **Begin.** No code reads a clock to decide what to do. So nothing depends on when a request begins, and it begins as late as it
 * can: with the first event of its first message. So the verdict is strictest.
 *
 * **The bound.** The number of faults in an execution. A message that the table would refuse arrives neither late nor twice,
 * because nothing would change.
 *
 * **The verdict.** After each write, somebody reads the book, so that the history has whatever any reader could have seen.
 * {@link checkHistory} judges it. A 503 needs a reason, too.
 */
export class SmallWorld implements World<Event> {
  readonly #scenario: Scenario;
  readonly #table: MemoryTable;
  readonly #ids: readonly number[];
  readonly #clients: readonly Client[];
  readonly #tasks: Task[] = [];
  readonly #reads: (Operation & { type: 'get' })[] = [];
  #inTransit: readonly Message[] = [];
  #late: readonly Message[] = [];
  #step = 0;
  #faults = 0;

  private constructor(scenario: Scenario) {
    const { ids = [1], itemsOfPage } = scenario;
    this.#scenario = scenario;
    this.#ids = ids;
    this.#table = new MemoryTable(itemsOfPage);
    for (const id of ids) this.#table.store({ ...bookKey(id), ...firstFieldsOf(id), version: firstTagOf(id) });
    if (ids.length > 0) this.#table.store({ ...counterKey, lastId: ids.at(-1) });
    const [first, own] = [firstTagOf(1), firstTagOf(1)];
    this.#clients = scenario.clients.map((steps, index) => {
      const table = this.#openTable(index);
      return {
        index,
        name: 'ABC'[index] ?? '',
        books: new BookRepository(table),
        list: new BookList(table),
        steps: [...steps],
        tags: { first, own },
        log: [],
        writes: 0,
        invocation: new AbortController(),
      };
    });
  }

  static async make(scenario: Scenario): Promise<SmallWorld> {
    const world = new SmallWorld(scenario);
    for (const client of world.#clients) await world.#run(client, () => world.#begin(client));
    return world;
  }

  events(): readonly Event[] {
    const { faults, faulty = never } = this.#scenario;
    const fatesOf = ({ client, command }: Message) => {
      const isSafe = isDraw(command) || (isRead(command) && !isListing(client));
      if (isSafe || this.#faults === faults || client.index >= faulty) return ['is carried out'] as const;
      const faultyFates = ['is carried out', 'breaks off', 'ends its invocation'] as const;
      const mayArriveTwice = !isRead(command) && this.#table.accepts(command);
      return mayArriveTwice ? ([...faultyFates, 'arrives twice'] as const) : faultyFates;
    };
    return [
      ...this.#inTransit.flatMap((message) => fatesOf(message).map((fate) => ({ fate, message }))),
      ...this.#late
        .filter(({ command }) => this.#table.accepts(command))
        .map((message) => ({ fate: 'arrives late' as const, message })),
    ];
  }

  async happen({ fate, message }: Event): Promise<void> {
    const { client } = message;
    this.#step += 1;
    if (fate === 'arrives late') {
      this.#late = this.#late.filter((other) => other !== message);
      await this.#carryOut(message);
      return;
    }
    const task = client.task as Task;
    if (task.invoked === never) task.invoked = this.#step;
    this.#inTransit = this.#inTransit.filter((other) => other !== message);
    if (fate === 'is carried out') return this.#run(client, await this.#carryOut(message));
    this.#faults += 1;
    if (fate === 'arrives twice') {
      await this.#carryOut(message);
      return this.#run(client, await this.#carryOut(message));
    }
    if (!isRead(message.command)) this.#late = [...this.#late, message];
    logOf(client).push(isListing(client) ? [message.command.input, fate] : fate);
    task.breaks += 1;
    task.isCutOff = fate === 'ends its invocation';
    const error = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    return this.#run(client, () => (task.isCutOff ? client.invocation.abort() : message.fail(error)));
  }

  /** Runs the code of a client until all of it waits. */
  async #run(client: Client, start: () => void): Promise<void> {
    running = client;
    start();
    await setImmediate();
    if (client.task?.response && client.steps.length > 0) await this.#run(client, () => this.#begin(client));
  }

  #begin(client: Client): void {
    const { index, name, steps, tags, log } = client;
    const number = 10 * (index + 1) + steps.length;
    const request = (steps.shift() as Step)(number, tags);
    const task: Task = {
      name: name + number,
      request,
      invoked: never,
      ended: never,
      breaks: 0,
      isCutOff: false,
      pages: [],
    };
    this.#tasks.push(task);
    const end = (response: Response) => {
      task.response = response;
      task.ended = this.#step + 0.5;
      tags.own = response.version ?? tags.own;
      log.push({ ...response, trace: undefined });
      // A list that has failed waits for none of its pages.
      this.#inTransit = this.#inTransit.filter(({ client: sender }) => sender !== client);
    };
    client.task = task;
    client.invocation = new AbortController();
    void invocationSignal
      .run(client.invocation.signal, () => send(client, request))
      .then(end, (error: Error) => {
        const { status } = clientOutcomeOf(error);
        const { stack: cause } = (error.cause ?? {}) as Partial<Error>;
        end({ status, trace: status >= 500 ? `${error.stack}${cause ? `\ncaused by ${cause}` : ''}` : undefined });
      });
  }

  /** Opens the table for a machine. What it sends is in transit until its fate is chosen. */
  #openTable(index: number): Table {
    const { alter } = this.#scenario;
    const sendCommand = async (command: Command, { abortSignal }: { readonly abortSignal: AbortSignal }) => {
      const client = this.#clients[index] as Client;
      if (logOf(client).length > maxLogLength) throw new Error('a client sends request after request');
      for (const write of writesOf(command)) {
        if (alter && write.ConditionExpression) write.ConditionExpression = alter(write.ConditionExpression);
      }
      logOf(client).push(command.input);
      const output = await new Promise<object>((respond, fail) => {
        this.#inTransit = [...this.#inTransit, { client, command, respond, fail }];
        abortSignal.addEventListener('abort', fail);
      });
      return command instanceof QueryCommand ? respondTo(command, output) : output;
    };
    return new Table(openBySending(sendCommand).client, 'books');
  }

  /** Carries out a message, and reads each book that it changed. @returns what gives its client the response */
  async #carryOut({ client, command, respond, fail }: Message): Promise<() => void> {
    const before = this.#table.readAll();
    const note = (outcome: unknown) => logOf(client).push(isListing(client) ? [command.input, outcome] : outcome);
    try {
      const output = await this.#table.execute(command);
      for (const item of this.#table.readAll()) if (!before.includes(item)) this.#read(item);
      return () => {
        note(output);
        respond(output);
      };
    } catch (error) {
      return () => {
        note(error);
        fail(error);
      };
    }
  }

  /** Somebody reads a book right after a write. */
  #read(stored: Item): void {
    const item = unmarshall(stored);
    if (!isBook(item)) return;
    const { book, version: tag } = parseStoredBook(item);
    const moment = this.#step + 0.25;
    const interval = { invoked: moment, returned: moment };
    this.#reads.push({ type: 'get', id: Number(item.id), ...interval, status: book ? 200 : 404, book, tag });
  }

  /** @returns what is wrong with the responses, as sentences */
  judge(): string[] {
    const bugs = this.#tasks.filter(({ response }) => response?.status === 500);
    if (bugs.length > 0) {
      return bugs.map(
        ({ name, request, response }) => `${name}, a request to ${request.type}, got 500: ${response?.trace}`,
      );
    }
    const failures = this.#tasks.filter((task) => task.response?.status === 503 && !this.#mayFail(task));
    return [
      ...failures.map(({ name, response }) => `${name} got a 503 without a reason: ${response?.trace}`),
      ...checkHistory(this.#history()),
    ];
  }

  #history(): Operation[] {
    const creations = this.#ids.map((id): Operation => {
      const fields = firstFieldsOf(id);
      const response = { status: 201, book: { id, ...fields }, tag: firstTagOf(id) };
      return { type: 'create', fields, invoked: 0, returned: 0, ...response };
    });
    const operations = this.#tasks.map(({ request, invoked, ended, response }): Operation => {
      const { status = 503, book, version: tag, ...others } = response ?? {};
      const isKnown = status !== 503;
      // An attempt that arrives late undoes nothing that began after its request had ended.
      const interval = { invoked, returned: isKnown ? ended : never, deadline: ended };
      return { ...request, ...interval, status, book, tag, ...others };
    });
    return [...creations, ...operations, ...this.#reads];
  }

  /** Whether a 503 has a reason: what its request met, or a lost attempt and another write to the same book meanwhile. */
  #mayFail(task: Task): boolean {
    const { request, invoked, ended, breaks, isCutOff } = task;
    if (isCutOff || breaks >= maxBreaks) return true;
    // A deletion leaves an item that tells its outcome, whatever others write.
    if (breaks === 0 || request.type === 'delete' || request.type === 'list') return false;
    const isMeanwhile = (other: Task) => other.response?.status === 503 || other.ended > invoked;
    return this.#tasks.some((other) => other !== task && other.invoked < ended && isMeanwhile(other));
  }

  describe(): string {
    return describeValue([
      this.#faults,
      this.#table
        .readAll()
        .map((item) => describeValue(item))
        .sort(),
      this.#clients.map(({ steps, log, task }) => [
        ...[steps.length, log],
        task?.response ? [] : task?.pages.map((page) => describeValue(page)).sort(),
      ]),
      this.#late.map(({ command }) => describeValue(command.input)).sort(),
      this.#reads.map(({ book, tag }) => [book, tag]),
      this.#tasks.map((task) => describeValue([task.name, ...this.#before(task.invoked), task.ended < never])).sort(),
    ]);
  }

  /** What had ended before a moment, which the verdict depends on. */
  #before(moment: number): unknown[] {
    if (moment === never) return [];
    const ended = this.#tasks.filter((task) => task.ended < moment).map(({ name }) => name);
    return [ended.sort(), this.#reads.filter(({ returned }) => returned < moment).length];
  }
}

/** Describes the events of an execution, one a line. */
export function describeEvents(events: readonly Event[]): string {
  const lines = events.map(({ fate, message: { client, command } }) => {
    const [{ ConditionExpression: condition = '', ExpressionAttributeValues: values = {} } = {}] = writesOf(command);
    return `${client.name} ${fate}: ${command.constructor.name} ${condition} ${describeValue(values)}`;
  });
  return lines.join('\n');
}

/** Describes a value as JSON, with the length of a long text in its place. */
function describeValue(value: unknown): string {
  return JSON.stringify(value, (_, part) => (part?.length > 10_000 ? `${part.length} characters` : part));
}

/** Whether a command draws an id. */
function isDraw(command: Command): boolean {
  return command instanceof UpdateCommand && command.input.Key?.id === counterKey.id;
}

function isBook({ shard, id }: Values): boolean {
  return shard === bookKey(Number(id)).shard;
}

function isListing({ task }: Client): boolean {
  return task?.request.type === 'list';
}

function logOf(client: Client): unknown[] {
  return isListing(client) ? (client.task?.pages ?? []) : client.log;
}

async function send({ books, list }: Client, request: BookRequest): Promise<Response> {
  if (request.type === 'list') {
    const { after = 0, limit, filter = {} } = request;
    const selection = { after, filter };
    const page = limit === undefined ? { books: list.readAll(selection) } : await list.readPage(selection, limit);
    const chunks = typeof page.books === 'string' ? [page.books] : await Array.fromAsync(page.books);
    const { continueAfter = null } = { continueAfter: undefined, ...page };
    return { status: 200, books: chunks.flatMap((json): Book[] => JSON.parse(`[${json}]`)), continueAfter };
  }
  if (request.type === 'create') return { status: 201, ...(await books.create(request.fields, request.key)) };
  if (request.type === 'get') return { status: 200, ...(await books.get(request.id)) };
  if (request.type === 'update') {
    return { status: 200, ...(await books.update(request.id, request.changes, request.ifMatch)) };
  }
  await books.delete(request.id, request.ifMatch);
  return { status: 200 };
}
