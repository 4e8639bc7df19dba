import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { close, listen } from '../runtime/loopback-server.ts';

interface Request {
  readonly TableName: string;
  readonly Key?: Readonly<Record<'shard' | 'id', { readonly N: string }>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, object>>;
}

/** The response of a table with books 1 to a number at the end of its name, which fit on one page. Every write succeeds. */
function respond(operation: string, { TableName, Key, ...request }: Request): object | undefined {
  const bookCount = Number(TableName.split('-').at(-1));
  const isCounter = Key?.shard.N === '-1';
  const makePage = (make: (id: number) => object) => {
    const Items = Array.from({ length: bookCount }, (_, index) => make(index + 1));
    return { Count: bookCount, ScannedCount: bookCount, Items };
  };
  switch (operation) {
    case 'GetItem':
      if (isCounter) return { Item: { ...Key, lastId: { N: `${bookCount}` } } };
      return Number(Key?.id.N) <= bookCount ? { Item: makeItem(Number(Key?.id.N)) } : {};
    case 'UpdateItem': {
      if (isCounter) return { Attributes: { lastId: { N: `${bookCount + 1}` } } };
      // Whoever changes or deletes a book looks for its own write in the response.
      const { ':writeToken': writeToken, ':expiresAt': expiresAt } = request.ExpressionAttributeValues ?? {};
      return { Attributes: { ...makeItem(1), writeToken, expiresAt } };
    }
    case 'PutItem':
    case 'DeleteItem':
      return {};
    case 'Query':
      return makePage(makeBook);
    case 'Scan':
      return makePage(makeItem);
    default:
      return undefined;
  }
}

const makeBook = (id: number) => ({
  id: { N: `${id}` },
  title: { S: `The title of book number ${id}` },
  author: { S: `Author "${id % 997}"` },
  year: { N: `${1900 + (id % 120)}` },
});

const makeItem = (id: number) => ({ shard: { N: '0' }, writeToken: { S: 'seeded-token' }, ...makeBook(id) });

/** Starts a DynamoDB that stores nothing and responds at once, so that the time is the function's. */
export async function startStub() {
  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const result = respond(operation, (await json(request)) as Request);
    const body = JSON.stringify(result ?? { __type: 'UnknownOperationException' });
    response.writeHead(result ? 200 : 400, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(body),
      'x-amz-crc32': String(crc32(body)),
      'x-amzn-RequestId': 'STUB',
    });
    response.end(body);
  });
  server.keepAliveTimeout = 0;
  return { url: `http://127.0.0.1:${await listen(server)}`, stop: () => close(server) };
}
