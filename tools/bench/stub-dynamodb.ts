import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';

/**
 * A DynamoDB that stores nothing and answers every request in the same short time, so that what is measured is the
 * function: book 1 is there, the counter stands at 41, every write succeeds. Its own process; prints its port.
 */
const book = {
  shard: { N: '0' },
  id: { N: '1' },
  title: { S: 'The Left Hand of Darkness' },
  author: { S: 'Ursula K. Le Guin' },
  year: { N: '1969' },
  writeToken: { S: 'abcdefghijkl' },
};
const { shard: _shard, writeToken: _writeToken, ...fields } = book;
const onePage = { Count: 1, ScannedCount: 1 };

interface Request {
  readonly ProjectionExpression?: string;
  readonly Key?: { readonly shard: { readonly N: string }; readonly id: { readonly N: string } };
}

const answers: Readonly<Record<string, (request: Request) => unknown>> = {
  GetItem: ({ Key }) => {
    if (Key?.shard.N === '-1') return { Item: { ...Key, lastId: { N: '41' } } };
    return Key?.id.N === '1' ? { Item: book } : {};
  },
  UpdateItem: ({ Key }) => ({ Attributes: Key?.shard.N === '-1' ? { lastId: { N: '42' } } : book }),
  PutItem: () => ({}),
  DeleteItem: () => ({}),
  // The only projection that anyone asks for leaves out what is not the book's.
  Query: ({ ProjectionExpression: projected }) => ({ Items: [projected ? fields : book], ...onePage }),
  Scan: () => ({ Items: [book], ...onePage }),
};

const server = createServer(async (request, response) => {
  const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
  const answer = answers[operation]?.((await json(request)) as Request);
  const body = JSON.stringify(answer ?? { __type: 'com.amazon.coral.service#UnknownOperationException' });
  response.writeHead(answer ? 200 : 400, {
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
