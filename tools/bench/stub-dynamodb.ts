import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';

/**
 * A DynamoDB that stores nothing and responds at once, so that the time is the function's. It holds as many books as its
 * argument says and makes their pages when they are requested, by DynamoDB's rules (`LastEvaluatedKey` after 1 MB of items);
 * every write succeeds. It runs in a process of its own and prints its port.
 */
export async function startStub(bookCount: number): Promise<{ url: string; stop(): void }> {
  // The process ends with this pipe, so that a bench that crashes leaves none behind. It shares the core of the bench.
  const child = spawn(process.execPath, [import.meta.filename, String(bookCount)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  return { url: `http://127.0.0.1:${Number(port)}/books`, stop: () => child.kill() };
}

const shardWidth = 10_000;

/** About 1 MB of such items, which is where a page of DynamoDB ends. */
const maxPageItems = 8_000;

type Key = Readonly<Record<'shard' | 'id', { readonly N: string }>>;

interface Request {
  readonly Key?: Key;
  readonly ExclusiveStartKey?: Key;
  readonly ExpressionAttributeValues?: Readonly<Record<':shard' | ':after', { readonly N: string }>>;
  readonly Limit?: number;
  readonly ProjectionExpression?: string;
}

if (import.meta.main) {
  const bookCount = Number(process.argv[2]);

  const makeItem = (id: number, projected: boolean) => {
    const texts = { title: { S: `The title of book number ${id}` }, author: { S: `Author "${id % 997}"` } };
    const book = { id: { N: `${id}` }, ...texts, year: { N: `${1900 + (id % 120)}` } };
    const rest = { shard: { N: `${Math.floor(id / shardWidth)}` }, writeToken: { S: 'seeded-token' } };
    return projected ? book : { ...rest, ...book };
  };

  /** The books of one shard after an id. */
  const makePage = (shard: number, after: number, limit = maxPageItems, projected = false) => {
    const first = Math.max(after, shard * shardWidth - 1, 0) + 1;
    const last = Math.min(bookCount, (shard + 1) * shardWidth - 1);
    const count = Math.max(0, Math.min(last - first + 1, limit, maxPageItems));
    const items = Array.from({ length: count }, (_, index) => makeItem(first + index, projected));
    const id = first + count - 1;
    const next = id < last && { LastEvaluatedKey: { shard: { N: `${shard}` }, id: { N: `${id}` } } };
    return { Count: count, ScannedCount: count, Items: items, ...next };
  };

  /** A Scan sees partitions in an order of its own; here the highest comes first. */
  const scan = ({ ExclusiveStartKey: startKey }: Request) => {
    const shard = Number(startKey?.shard.N ?? Math.floor(bookCount / shardWidth));
    const page = makePage(shard, Number(startKey?.id.N ?? 0));
    if ('LastEvaluatedKey' in page || shard === 0) return page;
    return { ...page, LastEvaluatedKey: { shard: { N: `${shard - 1}` }, id: { N: '0' } } };
  };

  const operations: Readonly<Record<string, (request: Request) => object>> = {
    GetItem: ({ Key }) => {
      if (Key?.shard.N === '-1') return { Item: { ...Key, lastId: { N: `${bookCount}` } } };
      return Number(Key?.id.N) <= bookCount ? { Item: makeItem(Number(Key?.id.N), false) } : {};
    },
    UpdateItem: ({ Key }) => ({
      Attributes: Key?.shard.N === '-1' ? { lastId: { N: `${bookCount + 1}` } } : makeItem(1, false),
    }),
    PutItem: () => ({}),
    DeleteItem: () => ({}),
    Query: ({
      ExpressionAttributeValues: values,
      ExclusiveStartKey: startKey,
      Limit,
      ProjectionExpression,
    }) => {
      const after = Math.max(Number(values?.[':after'].N), Number(startKey?.id.N ?? 0));
      return makePage(Number(values?.[':shard'].N), after, Limit, ProjectionExpression !== undefined);
    },
    Scan: scan,
  };

  const server = createServer(async (request, response) => {
    const operation = operations[String(request.headers['x-amz-target']).split('.').at(-1) ?? ''];
    const unknown = { __type: 'com.amazon.coral.service#UnknownOperationException' };
    const body = JSON.stringify(operation?.((await json(request)) as Request) ?? unknown);
    response.writeHead(operation ? 200 : 400, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(body),
      'x-amz-crc32': String(crc32(body)),
      'x-amzn-RequestId': 'STUB',
    });
    response.end(body);
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
  process.stdin.on('end', () => process.exit()).resume();
}
