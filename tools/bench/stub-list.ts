import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';

/**
 * A DynamoDB that holds as many books as its argument says without storing them: it makes the pages of Query and Scan
 * when they are asked for, in a few milliseconds, by DynamoDB's rules (1 MB of items, `LastEvaluatedKey`). Its own
 * process; prints its port.
 */
const bookCount = Number(process.argv[2]);

const shardWidth = 10_000;
const maxPageBytes = 1024 * 1024;

/** Names and numbers of an item ("Amazon DynamoDB item sizes and formats"), without the texts. */
const fixedItemBytes = 'shardidtitleauthoryearwriteToken'.length + 3 + 4 + 3 + 'seeded-token'.length;

interface Key {
  readonly shard: { readonly N: string };
  readonly id: { readonly N: string };
}

interface Request {
  readonly ExpressionAttributeValues?: {
    readonly ':shard': { readonly N: string };
    readonly ':after': { readonly N: string };
  };
  readonly ExclusiveStartKey?: Key;
  readonly Limit?: number;
  readonly ProjectionExpression?: string;
}

/** The books of one shard after an id, as the body of a response. */
function answerPage(shard: number, after: number, limit: number, projected = false): string {
  const last = Math.min(bookCount, (shard + 1) * shardWidth - 1);
  const items: string[] = [];
  let bytes = 0;
  let id = Math.max(after, shard * shardWidth - 1, 0);
  while (id < last && bytes < maxPageBytes && items.length < limit) {
    id += 1;
    const title = `The title of book number ${id}`;
    const author = `Author \\"${id % 997}\\"`;
    bytes += fixedItemBytes + title.length + author.length - 2;
    const year = 1900 + (id % 120);
    const book = `"id":{"N":"${id}"},"title":{"S":"${title}"},"author":{"S":"${author}"},"year":{"N":"${year}"}`;
    items.push(
      projected ? `{${book}}` : `{"shard":{"N":"${shard}"},${book},"writeToken":{"S":"seeded-token"}}`,
    );
  }
  const startKey = id < last ? `,"LastEvaluatedKey":{"shard":{"N":"${shard}"},"id":{"N":"${id}"}}` : '';
  return `{"Count":${items.length},"ScannedCount":${items.length},"Items":[${items.join(',')}]${startKey}}`;
}

/** A Scan sees partitions in an order of its own; here the highest comes first. */
function answerScan({ ExclusiveStartKey: startKey }: Request): string {
  const firstShard = Math.floor(bookCount / shardWidth);
  const shard = Number(startKey?.shard.N ?? firstShard);
  const page = answerPage(shard, Number(startKey?.id.N ?? 0), Number.POSITIVE_INFINITY);
  if (page.includes('"LastEvaluatedKey"') || shard === 0) return page;
  return `${page.slice(0, -1)},"LastEvaluatedKey":{"shard":{"N":"${shard - 1}"},"id":{"N":"0"}}}`;
}

function answer(operation: string, request: Request): string {
  const { ExpressionAttributeValues: values, ExclusiveStartKey: startKey, Limit: limit } = request;
  if (operation === 'GetItem') return `{"Item":{"lastId":{"N":"${bookCount}"}}}`;
  if (operation === 'Scan') return answerScan(request);
  const after = Math.max(Number(values?.[':after'].N), Number(startKey?.id.N ?? 0));
  const projected = request.ProjectionExpression !== undefined;
  return answerPage(Number(values?.[':shard'].N), after, limit ?? Number.POSITIVE_INFINITY, projected);
}

const server = createServer(async (request, response) => {
  const operation = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
  const body = answer(operation, (await json(request)) as Request);
  response.writeHead(200, {
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
