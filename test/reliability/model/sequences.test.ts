import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Engine, provideEngine } from '../../simulators/engine.ts';
import { type BookTable, createBookTable, setCounter } from '../../support/book-table.ts';
import { type CapturedLog, captureLog } from '../../support/captured-log.ts';
import { type Call, loadHandlers } from '../../support/load-handlers.ts';
import { emptyCatalog } from './catalog.ts';
import { anyCommand } from './commands.ts';

/** How many random sequences; more than the normal 1,000 with MODEL_SEQUENCES. */
const sequences = Number(process.env.MODEL_SEQUENCES ?? 1_000);

const timeLimitMs = 300_000 + sequences * 300;

/** At most this many commands in a sequence; concurrent clients are one of them. */
const maxCommands = 15;

let engine: Engine;
let table: BookTable;
let call: Call;
let log: CapturedLog;

beforeAll(async () => {
  log = captureLog();
  engine = await provideEngine();
  table = await createBookTable(engine.endpoint);
  call = await loadHandlers(table.url);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await engine.stop();
});

/** A new catalog, and one whose next books come to lie across a border between shards. */
const idsBefore = fc.constantFrom(0, 9_997, 19_998);

test(
  `${sequences} random sequences of requests get the responses of the specification`,
  async () => {
    await fc.assert(
      fc.asyncProperty(idsBefore, fc.commands(anyCommand, { maxCommands, size: 'max' }), (before, commands) =>
        fc.asyncModelRun(async () => {
          await emptyTable(before);
          return { model: { idsBefore: before, catalog: emptyCatalog(before) }, real: call };
        }, commands),
      ),
      { numRuns: sequences },
    );

    // No request, however malformed, was a surprise to the service.
    expect(log.lines.filter(({ level }) => level === 'ERROR')).toEqual([]);
  },
  timeLimitMs,
);

async function emptyTable(lastId: number): Promise<void> {
  const { client, tableName: TableName } = table;
  const { Items: items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
  for (const { shard, id } of items) await client.send(new DeleteCommand({ TableName, Key: { shard, id } }));
  if (lastId > 0) await setCounter(table, lastId);
}
