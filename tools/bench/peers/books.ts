import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { parseBody, protect, respond } from './serve.ts';

const { origin, pathname } = new URL(process.env.DB_URL ?? '');
const TableName = pathname.slice(1);

/** As the SDK's documentation makes it. */
const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: origin }));

const bookKey = (id: number) => ({ shard: Math.floor(id / 10_000), id });

export const createBook = protect(async (event) => {
  const { title = '', author = '', year = 0 } = parseBody(event) ?? { title: null };
  const areTexts = [title, author].every((text) => typeof text === 'string' && text.isWellFormed());
  if (!areTexts || !Number.isSafeInteger(year)) return respond(400, 'Invalid input');
  const counter = await client.send(
    new UpdateCommand({
      TableName,
      Key: { shard: -1, id: 0 },
      UpdateExpression: 'ADD lastId :one',
      ExpressionAttributeValues: { ':one': 1 },
      ReturnValues: 'UPDATED_NEW',
    }),
  );
  const id = counter.Attributes?.lastId;
  const Item = { ...bookKey(id), title, author, year };
  await client.send(new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(id)' }));
  return respond(201, 'Book created successfully', { id, title, author, year });
});

/** The list as most would write it: Scan until there are no more pages, collect, sort, respond with one text. */
export const listBooks = protect(async () => {
  const books: { id: number; title: string; author: string; year: number }[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName, ConsistentRead: true, ExclusiveStartKey }));
    for (const { shard, id, title, author, year } of page.Items ?? []) {
      if (shard >= 0) books.push({ id, title, author, year });
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  books.sort((a, b) => a.id - b.id);
  return respond(200, 'Books retrieved successfully', books);
});

export const getBook = protect(async ({ pathParameters }) => {
  const text = pathParameters?.id ?? '';
  const id = /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
  const { Item } = await client.send(new GetCommand({ TableName, Key: bookKey(id), ConsistentRead: true }));
  if (id === 0 || Item === undefined) return respond(404, 'Book not found');
  const { title, author, year } = Item;
  return respond(200, 'Book retrieved successfully', { id, title, author, year });
});
