import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
// biome-ignore lint/style/noRestrictedImports: A server on a loopback port is the same for tests and the bench.
import { close, listen } from '../../test/support/loopback-server.ts';

interface Request {
  readonly TableName: string;
  readonly Key?: Readonly<Record<'shard' | 'id', { readonly N: string }>>;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, object>>;
}

const readText = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/** A chain of three certificates with RSA keys, as DynamoDB sends it: that of 127.0.0.1, an intermediate one, a root. */
const cert = readText('stub-chain.pem');

/** The root certificate of the stub, in PEM. */
export const stubRoot = cert.slice(cert.lastIndexOf('-----BEGIN'));

/** Starts a DynamoDB that stores nothing and responds at once, over TLS, so that the time is the function's. */
export async function startStub() {
  const key = createPrivateKey({ key: JSON.parse(readText('stub-key.json')), format: 'jwk' });
  const options = { cert, key: key.export({ type: 'pkcs8', format: 'pem' }) };
  const server = createServer(options, async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
    const body = JSON.stringify(respond(operation, (await json(request)) as Request));
    response.writeHead(200, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(body),
      'x-amz-crc32': String(crc32(body)),
      'x-amzn-RequestId': 'STUB',
    });
    response.end(body);
  });
  server.keepAliveTimeout = 0;
  return { url: `https://127.0.0.1:${await listen(server)}`, stop: () => close(server) };
}

/**
 * The response of a table such as `books-1000`, with books 1 to 1000, which fit on one page. In `books-1000-older`, one of
 * them is older than a field. Writes succeed.
 */
function respond(operation: string, request: Request): object {
  const { TableName, Key } = request;
  const [, count, older] = TableName.split('-');
  const bookCount = Number(count);
  const counter = Key?.shard.N === '-1';
  switch (operation) {
    case 'GetItem':
      return { Item: counter ? { ...Key, lastId: { N: `${bookCount}` } } : makeItem(Number(Key?.id.N)) };
    case 'UpdateItem':
      return { Attributes: counter ? { lastId: { N: `${bookCount + 1}` } } : makeUpdated(request) };
    case 'Query':
    case 'Scan': {
      const make = operation === 'Query' ? makeBook : makeItem; // a Query asks for the fields alone
      const Items: object[] = Array.from({ length: bookCount }, (_, index) => make(index + 1));
      if (older) Items[0] = { ...Items[0], year: undefined };
      return { Count: bookCount, ScannedCount: bookCount, Items };
    }
    default:
      return {};
  }
}

const makeBook = (id: number) => ({
  id: { N: `${id}` },
  title: { S: `The title of book number ${id}` },
  author: { S: `Author "${id % 997}"` },
  year: { N: `${1900 + (id % 120)}` },
});

/** The book after an update, or the item that a deletion leaves. */
function makeUpdated({ Key, UpdateExpression = '', ExpressionAttributeValues = {} }: Request): object {
  const assignments = UpdateExpression.matchAll(/#(\w+) = (:\w+)/g);
  const set = [...assignments].map(([, name = '', value = '']) => [name, ExpressionAttributeValues[value]]);
  const isDeletion = UpdateExpression.includes('REMOVE');
  return { ...Key, ...(!isDeletion && makeItem(Number(Key?.id.N))), ...Object.fromEntries(set) };
}

/** Its version is below those of all writes, so that one whose time is over under valgrind is sent again. */
const makeItem = (id: number) => ({ shard: { N: '0' }, version: { S: '0' }, ...makeBook(id) });
