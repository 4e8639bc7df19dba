import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Book } from '../../../lib/books/book.ts';
import { type Engine, provideEngine } from '../../simulators/engine.ts';
import { type BookTable, createBookTable, setCounter } from '../../support/book-table.ts';
import { captureLog } from '../../support/captured-log.ts';
import { type Call, loadHandlers } from '../../support/load-handlers.ts';
import { applyRequest, type Catalog } from './catalog.ts';
import { chosenIn, type Exchange, expectedResponse, explainResponses, send } from './exchange.ts';
import {
  type BookRequest,
  draw,
  type IdChoice,
  listRequest,
  oneBookRequest,
  type Precondition,
  type PreconditionChoice,
  type RequestChoice,
} from './requests.ts';

/** How many random sequences; more than the normal 1,000 with MODEL_SEQUENCES. */
const sequences = Number(process.env.MODEL_SEQUENCES ?? 1_000);

const timeLimitMs = 300_000 + sequences * 300;

/** At most this many commands in a sequence; concurrent clients are one of them. */
const maxCommands = 15;

interface Model {
  /** The last id before the sequence. */
  readonly idsBefore: number;
  catalog: Catalog;
}

/** The entity tags that a client has seen of each book, in their order. */
type SeenTags = Map<number, readonly string[]>;

let engine: Engine;
let table: BookTable;
let call: Call;

beforeAll(async () => {
  engine = await provideEngine();
  table = await createBookTable(engine.endpoint);
  call = await loadHandlers(table.url);
});

afterAll(() => engine.stop());

const wholeList: BookRequest = {
  type: 'list',
  access: 'HS256',
  id: 0,
  body: { text: '', isBase64Encoded: false, fields: undefined },
  key: undefined,
  precondition: undefined,
  limit: Number.POSITIVE_INFINITY,
};

const anyRequests = fc.array(oneBookRequest, { minLength: 1, maxLength: 3 });
const anyClients = fc.array(anyRequests, { minLength: 2, maxLength: 3 });

/** One request, or the requests of concurrent clients. */
type Command = RequestChoice | readonly (readonly RequestChoice[])[];

const anyCommand = draw<Command>([15, draw([4, oneBookRequest], [1, listRequest])], [3, anyClients]);

/** A new catalog, and one whose next books are in two shards. */
const idsBefore = fc.constantFrom(0, 9_997, 19_998);

test(
  `${sequences} random sequences of requests get the responses of the specification`,
  async () => {
    const log = captureLog();
    const anyCommands = fc.array(anyCommand, { maxLength: maxCommands, size: 'max' });
    await fc.assert(
      fc.asyncProperty(idsBefore, anyCommands, async (lastId, commands) => {
        await emptyTable(lastId);
        const catalog = { lastId, spareIds: 0, books: new Map(), keys: new Map() };
        const model: Model = { idsBefore: lastId, catalog };
        for (const command of commands) {
          await ('type' in command ? runRequest(model, command) : runClients(model, command));
        }
      }),
      { numRuns: sequences },
    );

    // No request, however malformed, caused a 500.
    expect(log.lines.filter(({ level }) => level === 'ERROR')).toEqual([]);
  },
  timeLimitMs,
);

/** One client, one request. */
async function runRequest(model: Model, choice: RequestChoice): Promise<void> {
  const { catalog } = model;
  const request = chooseBook(choice, model, tagsIn(catalog));
  const response = await send(call, request);
  const { id, tag } = chosenIn(response);
  const skipped = (id ?? 0) - catalog.lastId - 1;
  const isNext = skipped >= 0 && skipped <= catalog.spareIds;
  const effect = applyRequest(catalog, request, { id: isNext ? id : undefined, tag });
  model.catalog = effect.catalog;
  expect(response).toEqual(expectedResponse(request, effect));
}

/**
 * Several concurrent clients, each with some requests in sequence. Some order of all the requests must explain their
 * responses, and the list and the books afterwards.
 */
async function runClients(model: Model, clients: readonly (readonly RequestChoice[])[]): Promise<void> {
  let clock = 0;
  const exchanges: Exchange[] = [];
  const exchange = async (request: BookRequest) => {
    clock += 1;
    const invoked = clock;
    const response = await send(call, request);
    clock += 1;
    exchanges.push({ invoked, returned: clock, request, response });
    return response;
  };
  await Promise.all(
    clients.map(async (choices) => {
      const seen = tagsIn(model.catalog);
      for (const choice of choices) {
        const request = chooseBook(choice, model, seen);
        const { tag } = chosenIn(await exchange(request));
        const id = typeof request.id === 'number' && request.type !== 'create' ? request.id : 0;
        if (tag !== undefined && seen.get(id)?.at(-1) !== tag) seen.set(id, [...(seen.get(id) ?? []), tag]);
      }
    }),
  );
  const { envelope } = await exchange(wholeList);
  // A list has no entity tags: of two equal updates, only these responses tell which was the last.
  for (const { id } of envelope.data as Book[]) await exchange({ ...wholeList, type: 'get', id });

  const after = explainResponses(model.catalog, exchanges);
  const descriptions = exchanges.map(({ response: { envelope }, ...sent }) =>
    describe({ ...sent, envelope }),
  );
  if (after === undefined)
    expect.fail(`no order of the requests explains their responses:\n${descriptions.join('\n')}`);
  model.catalog = after;
}

function tagsIn({ books }: Catalog): SeenTags {
  return new Map([...books].map(([id, { tags }]) => [id, tags]));
}

function chooseBook({ precondition, ...choice }: RequestChoice, model: Model, seen: SeenTags): BookRequest {
  const id = chooseId(choice.id, model);
  const tags = (typeof id === 'number' && seen.get(id)) || [];
  return { ...choice, id, precondition: precondition && chooseTags(precondition, tags) };
}

function chooseTags(choice: PreconditionChoice, seen: readonly string[]): Precondition {
  if ('header' in choice) {
    return { header: choice.header, strong: choice.header === '*' ? '*' : [], weak: [] };
  }
  const [strong, weak]: [string[], string[]] = [[], []];
  const written = choice.map((tag) => {
    const chosen = (tag !== 'foreign' && seen.at(tag === 'seen earlier' ? -2 : -1)) || '"foreign"';
    const isWeak = tag.startsWith('weak');
    (isWeak ? weak : strong).push(chosen);
    return `${isWeak ? 'W/' : ''}${chosen}`;
  });
  return { header: written.join(', '), strong, weak };
}

function chooseId(choice: IdChoice, { idsBefore: before, catalog: { lastId } }: Model): number | string {
  if ('text' in choice) return choice.text;
  if ('next' in choice) return lastId + choice.next;
  const created = lastId - before;
  return created === 0 ? lastId + 1 : before + 1 + (choice.created % created);
}

/** Formats a request for the report of a failing sequence. */
function describe(value: object): string {
  return JSON.stringify(value, (_key, member) =>
    typeof member === 'string' && member.length > 200 ? `${member.slice(0, 10)}… (${member.length})` : member,
  );
}

async function emptyTable(lastId: number): Promise<void> {
  const { client, tableName: TableName } = table;
  const { Items: items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  for (const { shard, id } of items) await client.send(new DeleteCommand({ TableName, Key: { shard, id } }));
  if (lastId > 0) await setCounter(table, lastId);
}
