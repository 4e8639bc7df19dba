import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
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
    for (const { shard, id, title, author, year = 0 } of page.Items ?? []) {
      if (shard >= 0) books.push({ id, title, author, year });
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  books.sort((a, b) => a.id - b.id);
  return respond(200, 'Books retrieved successfully', books);
});

export const getBook = protect(async (event) => {
  const Item = await findBook(event);
  return Item ? respond(200, 'Book retrieved successfully', toBook(Item)) : respond(404, 'Book not found');
});

export const updateBook = protect(async (event) => {
  const { title, author, year } = parseBody(event) ?? { title: null };
  const areTexts = [title, author].every(
    (text) => text === undefined || (typeof text === 'string' && text.isWellFormed()),
  );
  if (!areTexts || !(year === undefined || Number.isSafeInteger(year))) {
    return (await findBook(event)) ? respond(400, 'Invalid input') : respond(404, 'Book not found');
  }
  const changes = Object.entries({ title, author, year }).filter(([, value]) => value !== undefined);
  if (changes.length === 0) return getBook(event);
  return changeBook(event, async (Key) => {
    const { Attributes = {} } = await client.send(
      new UpdateCommand({
        TableName,
        Key,
        ConditionExpression: 'attribute_exists(id)',
        UpdateExpression: `SET ${changes.map(([name]) => `#${name} = :${name}`).join()}`,
        ExpressionAttributeNames: Object.fromEntries(changes.map(([name]) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(changes.map(([name, value]) => [`:${name}`, value])),
        ReturnValues: 'ALL_NEW',
      }),
    );
    return respond(200, 'Book updated successfully', toBook(Attributes));
  });
});

export const deleteBook = protect((event) =>
  changeBook(event, async (Key) => {
    await client.send(new DeleteCommand({ TableName, Key, ConditionExpression: 'attribute_exists(id)' }));
    return respond(200, 'Book deleted successfully');
  }),
);

/** @returns 0 for an id that no book can have */
function idOf({ pathParameters }: APIGatewayProxyEvent): number {
  const text = pathParameters?.id ?? '';
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
}

async function findBook(event: APIGatewayProxyEvent) {
  const id = idOf(event);
  return id === 0
    ? undefined
    : (await client.send(new GetCommand({ TableName, Key: bookKey(id), ConsistentRead: true }))).Item;
}

/** Makes a write of the one book of a request, whose condition is that it exists. */
async function changeBook(
  event: APIGatewayProxyEvent,
  write: (key: ReturnType<typeof bookKey>) => Promise<APIGatewayProxyResult>,
) {
  const id = idOf(event);
  if (id === 0) return respond(404, 'Book not found');
  return write(bookKey(id)).catch((error) => {
    if (error instanceof ConditionalCheckFailedException) return respond(404, 'Book not found');
    throw error;
  });
}

function toBook({ id, title, author, year }: Record<string, unknown>) {
  return { id, title, author, year };
}
