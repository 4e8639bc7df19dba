import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { answer } from '../answers.ts';
import type { PeerEndpoint } from '../endpoint.ts';
import { client, tableName } from '../table.ts';

/** The list as most would write it: Scan until there are no more pages, collect, sort, answer in one piece. */
export const endpoint: PeerEndpoint = {
  method: 'GET',
  path: '/books',
  async handle() {
    const books: { id: number; title: string; author: string; year: number }[] = [];
    let startKey: Record<string, unknown> | undefined;
    do {
      const page = await client.send(
        new ScanCommand({ TableName: tableName, ConsistentRead: true, ExclusiveStartKey: startKey }),
      );
      for (const { shard, id, title, author, year } of page.Items ?? []) {
        if (shard >= 0) books.push({ id, title, author, year });
      }
      startKey = page.LastEvaluatedKey;
    } while (startKey);
    books.sort((a, b) => a.id - b.id);
    return answer(200, 'Books retrieved successfully', books);
  },
};
