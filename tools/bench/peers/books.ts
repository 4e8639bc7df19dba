import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type Envelope, respond } from './response.ts';

const { origin, pathname } = new URL(process.env.DB_URL ?? '');
const TableName = pathname.slice(1);

/** As the SDK's documentation makes it. */
const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint: origin }));

const bookKey = (id: number) => ({ shard: Math.floor(id / 10_000), id });

export async function createBook({ body }: { readonly body?: unknown }): Promise<Envelope> {
  const fields = parseFields(body);
  if (fields === undefined) return respond(400, 'Invalid input');
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
  const ConditionExpression = 'attribute_not_exists(id)';
  await client.send(new PutCommand({ TableName, Item: { ...bookKey(id), ...fields }, ConditionExpression }));
  return respond(201, 'Book created successfully', { id, ...fields });
}

/** The list as most would write it: Scan until there are no more pages, collect, sort, respond with one text. */
export async function listBooks(): Promise<Envelope> {
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
}

export async function getBook({ id: text = '' }: { readonly id?: string | undefined }): Promise<Envelope> {
  const id = /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
  const { Item } = await client.send(new GetCommand({ TableName, Key: bookKey(id), ConsistentRead: true }));
  if (id === 0 || Item === undefined) return respond(404, 'Book not found');
  const { title, author, year } = Item;
  return respond(200, 'Book retrieved successfully', { id, title, author, year });
}

/** @returns the fields of a book in a body, or `undefined` when it is no object or a field has the wrong type */
function parseFields(body: unknown): object | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const { title = '', author = '', year = 0 } = body as Record<string, unknown>;
  const areTexts = [title, author].every((text) => typeof text === 'string' && text.isWellFormed());
  return areTexts && Number.isSafeInteger(year) ? { title, author, year } : undefined;
}
