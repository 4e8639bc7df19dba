import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, provideEngine } from '../../simulators/engine.ts';
import { type BookTable, createBookTable, setCounter } from '../../support/book-table.ts';
import { captureLog } from '../../support/captured-log.ts';
import { type Call, loadHandlers } from '../../support/load-handlers.ts';
import { expectedResponse, send } from './exchange.ts';
import {
  type AnyRequest,
  anyRequest,
  type IdChoice,
  type Precondition,
  type PreconditionChoice,
  type RequestChoice,
} from './requests.ts';
import { applyRequest, type State } from './specification.ts';

/** How many random sequences; more than the normal 1,000 with MODEL_SEQUENCES. */
const sequences = Number(process.env.MODEL_SEQUENCES ?? 1_000);

const timeLimitMs = 300_000 + sequences * 300;

/** At most this many requests in a sequence. */
const maxRequests = 15;

let engine: Engine;
let table: BookTable;
let call: Call;

beforeAll(async () => {
  engine = await provideEngine();
  table = await createBookTable(engine.endpoint);
  call = await loadHandlers(table.url);
});

afterAll(() => engine.stop());

/** An empty table, and one whose next books are in two shards. */
const anyIdsBefore = fc.constantFrom(0, 9_997, 19_998);

test(
  `${sequences} random sequences of requests get the responses of the specification`,
  async () => {
    const log = captureLog();
    const anyRequests = fc.array(anyRequest, { maxLength: maxRequests, size: 'max' });
    await fc.assert(
      fc.asyncProperty(anyIdsBefore, anyRequests, async (lastId, choices) => {
        await emptyTable(lastId);
        let state: State = { lastId, books: new Map(), keys: new Map() };
        for (const choice of choices) {
          const request = chooseBook(choice, state, lastId);
          const response = await send(call, request);
          const effect = applyRequest(state, request, response.headers?.ETag);
          expect(response).toEqual(expectedResponse(request, effect));
          state = effect.state;
        }
      }),
      { numRuns: sequences },
    );

    // No request, however malformed, caused a 500.
    expect(log.lines.filter(({ level }) => level === 'ERROR')).toEqual([]);
  },
  timeLimitMs,
);

function chooseBook({ precondition, ...choice }: RequestChoice, state: State, idsBefore: number): AnyRequest {
  const id = chooseId(choice.id, state.lastId, idsBefore);
  const { tags = [] } = (typeof id === 'number' && state.books.get(id)) || {};
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

function chooseId(choice: IdChoice, lastId: number, idsBefore: number): number | string {
  if ('text' in choice) return choice.text;
  if ('next' in choice) return lastId + choice.next;
  const created = lastId - idsBefore;
  return created === 0 ? lastId + 1 : idsBefore + 1 + (choice.created % created);
}

async function emptyTable(lastId: number): Promise<void> {
  const { client, tableName: TableName } = table;
  const { Items: items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  for (const { shard, id } of items) await client.send(new DeleteCommand({ TableName, Key: { shard, id } }));
  if (lastId > 0) await setCounter(table, lastId);
}
