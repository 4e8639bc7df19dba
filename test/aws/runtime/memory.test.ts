import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { decodeBody } from '../../../conformance/decode-body.ts';
import type { Book } from '../../../lib/books/book.ts';
import { memorySize } from '../../../serverless/functions.ts';
import { aBook } from '../../support/a-book.ts';
import { setCounter, storeBook } from '../../support/book-table.ts';
import { useTables } from '../../support/fixtures.ts';
import { createEvent } from '../../support/load-handlers.ts';
import { validToken } from '../../support/local-service.ts';
import { readPeakMemoryMb } from './lambda-instance.ts';
import { startForTest } from './start-function.ts';

/** Pages of about 1 MB in six shards, more than the list reads ahead. */
const bookCount = 18;
const everyId = 3_000;

/** An item of DynamoDB, less the other attributes. */
const titleBytes = 400 * 1024 - 600;

/** Titles as large as they can be: a control character has six bytes in JSON, and V8 has strings of one and of two bytes. */
const titles: Readonly<Record<string, string>> = {
  'control characters': '\u0001'.repeat(titleBytes),
  'half control characters, half ASCII': 'a\u0001'.repeat(titleBytes / 2),
  'control characters and one CJK character': `書${'\u0001'.repeat(titleBytes - 3)}`,
  'ASCII and one CJK character': `書${'a'.repeat(titleBytes - 3)}`,
  'quotation marks and one emoji': `📚${'"\\'.repeat(titleBytes / 2 - 2)}`,
  'CJK characters': '書'.repeat(titleBytes / 3),
};

async function readSlowly(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let unpausedBytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    unpausedBytes += chunk.length;
    if (unpausedBytes < 1_000_000) continue;
    await sleep(20);
    unpausedBytes = 0;
  }
  return Buffer.concat(chunks);
}

interface Request {
  readonly read: (body: AsyncIterable<Buffer>) => Promise<Buffer>;
  readonly coding: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** Whole lists, those of a filter that all books or none match, and such pages, which end at 3 MB of JSON. */
const requests: readonly Request[] = [
  { read: readSlowly, coding: 'identity' },
  ...['br', 'gzip'].map((coding) => ({ read: buffer, coding })),
  { read: readSlowly, coding: 'identity', query: { year: '0' } },
  { read: buffer, coding: 'br', query: { title: 'none' } },
  { read: buffer, coding: 'identity', query: { limit: '1000' } },
  { read: readSlowly, coding: 'br', query: { limit: '1000', year: '0' } },
  { read: buffer, coding: 'br', query: { limit: '1000', title: 'none' } },
];

const { open } = await useTables();

test.for(Object.entries(titles))(
  'lists of the largest books, with %s, take at most half of the memory of the function',
  { timeout: 180_000 },
  async ([, title], { annotate }) => {
    const table = await open();
    for (let number = 0; number < bookCount; number += 1) {
      await storeBook(table, { id: number * everyId + 1, ...aBook({ title }) });
    }
    await setCounter(table, bookCount * everyId);
    const instance = await startForTest('listBooks', { DB_URL: table.url });

    for (const { read, coding, query = {} } of requests) {
      const headers = { Authorization: validToken, 'Accept-Encoding': coding };
      const event = createEvent({ headers, queryStringParameters: query });
      const response = await instance.api.invoke(event);
      const body = decodeBody(await read(response.body), response.headers['Content-Encoding']);
      const data: readonly Book[] = JSON.parse(body.toString()).data;
      const [minBooks, maxBooks] = query.title ? [0, 0] : [query.limit ? 1 : bookCount, query.limit ? 9 : bookCount];
      expect(data.length).toBeGreaterThanOrEqual(minBooks);
      expect(data.length).toBeLessThanOrEqual(maxBooks);
      expect(data.every((book) => book.title === title)).toBe(true);
    }

    const peakMemory = readPeakMemoryMb(instance);
    await annotate(`${Math.round(peakMemory)} MB at the peak`);
    expect(peakMemory).toBeLessThanOrEqual(memorySize / 2);
  },
);
