import { Readable } from 'node:stream';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  type UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import getItem from 'dynalite/actions/getItem.js';
import putItem from 'dynalite/actions/putItem.js';
import type { Output } from 'dynalite/actions/query.js';
import query from 'dynalite/actions/query.js';
import updateItem from 'dynalite/actions/updateItem.js';
import db, { type EngineError, type Item, type Store } from 'dynalite/db/index.js';
import * as getRules from 'dynalite/validations/getItem.js';
import validations from 'dynalite/validations/index.js';
import * as putRules from 'dynalite/validations/putItem.js';
import * as queryRules from 'dynalite/validations/query.js';
import * as updateRules from 'dynalite/validations/updateItem.js';
// This also makes dynalite return the item that refuses a write.
import { call, putAll } from '../../serverless/local/engine/dynalite-additions.ts';

/** A command of the document client. */
export type Command = Read | PutCommand | UpdateCommand | TransactWriteCommand;

export type Read = GetCommand | QueryCommand | ScanCommand;

/** The attributes of an item, or the values of an expression's placeholders, as the document client has them. */
export type Values = Readonly<Record<string, unknown>>;

/** What is common to a put and an update. */
interface Write {
  readonly Key?: Values | undefined;
  readonly Item?: Values | undefined;
  readonly ExclusiveStartKey?: Values | undefined;
  ConditionExpression?: string | undefined;
  readonly ExpressionAttributeValues?: Values | undefined;
}

const table = {
  TableName: 'books',
  TableStatus: 'ACTIVE',
  KeySchema: [
    { AttributeName: 'shard', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: [
    { AttributeName: 'shard', AttributeType: 'N' },
    { AttributeName: 'id', AttributeType: 'N' },
  ],
};

/** "Amazon DynamoDB quotas": an item, with the names of its attributes. */
const maxItemBytes = 400 * 1024;

/** Parsing takes most of the time of a request, and a search sends the same ones again and again. */
const parsedInputs = new Map<string, Values>();

/**
 * A table in memory, for tests that decide the order of requests. It is dynalite's validation, conditions and updates on a
 * `Map`, without HTTP and LevelDB: a request takes microseconds, and no timer.
 */
export class MemoryTable {
  readonly #items = new Map<string, Item>();
  readonly #store = makeStore(this.#items);
  readonly #itemsOfPage: number;

  /** @param itemsOfPage - where a page of a Query ends at the latest, in place of 1 MB */
  constructor(itemsOfPage = Number.POSITIVE_INFINITY) {
    this.#itemsOfPage = itemsOfPage;
  }

  /** @returns all items, in the order of their first storage. An item is the same object until a write changes it */
  readAll(): readonly Item[] {
    return [...this.#items.values()];
  }

  store(values: Values): void {
    const item = marshall(values);
    this.#items.set(db.createKey(item, table), item);
  }

  /** Whether the conditions of a command hold. */
  accepts(command: Command): boolean {
    return writesOf(command).every((write) => {
      const request = this.#parse(write, write.Item ? putRules : updateRules);
      const stored = this.#items.get(db.createKey(marshall(write.Key ?? write.Item), table));
      return !db.checkConditional(request, stored);
    });
  }

  /** Carries out a command. @returns its output @throws the SDK's exceptions */
  async execute(command: Command): Promise<{ readonly Item?: Values; readonly Attributes?: Values }> {
    const output = await this.#carryOut(command).catch((error: EngineError) => {
      throw error.body === undefined ? error : toException(error.body);
    });
    if (command instanceof QueryCommand || command instanceof ScanCommand) return output;
    const { Item, Attributes } = output;
    return { ...(Item && { Item: unmarshall(Item) }), ...(Attributes && { Attributes: unmarshall(Attributes) }) };
  }

  async #carryOut(command: Command): Promise<Output> {
    const { input } = command;
    if (command instanceof ScanCommand) return { Count: this.#items.size };
    if (command instanceof TransactWriteCommand) {
      const TransactItems = writesOf(command).map((put) => ({ Put: toWire(put) }));
      const { status, body } = await putAll(this.#store, { TransactItems });
      if (status !== 200) throw Object.assign(new Error(), { body });
      return {};
    }
    const [action, rules] = actionOf(command);
    const { Limit: limit = Number.POSITIVE_INFINITY } = input as { readonly Limit?: number };
    const isPage = command instanceof QueryCommand && limit > this.#itemsOfPage;
    const request = this.#parse(isPage ? { ...input, Limit: this.#itemsOfPage } : input, rules);
    // The action changes the request.
    return call((done) => action(this.#store, structuredClone(request), done));
  }

  /** @throws {EngineError} when DynamoDB would refuse the request as invalid */
  #parse(input: object, { types, custom }: Rules): Values {
    const text = JSON.stringify(input);
    const parsed = parsedInputs.get(text) ?? (validations.checkTypes(toWire(input), types) as Values);
    if (!parsedInputs.has(text)) validations.checkValidations(parsed, types, custom, this.#store);
    parsedInputs.set(text, parsed);
    return parsed;
  }
}

type Rules = typeof putRules;

export function isRead(command: Command): command is Read {
  return command instanceof GetCommand || command instanceof QueryCommand || command instanceof ScanCommand;
}

/** @returns the writes of a command, none of a read */
export function writesOf(command: Command): readonly Write[] {
  if (isRead(command)) return [];
  if (!(command instanceof TransactWriteCommand)) return [command.input];
  return command.input.TransactItems?.flatMap(({ Put = [] }) => Put) ?? [];
}

function actionOf(command: Command) {
  if (command instanceof GetCommand) return [getItem, getRules] as const;
  if (command instanceof QueryCommand) return [query, queryRules] as const;
  return command instanceof PutCommand ? ([putItem, putRules] as const) : ([updateItem, updateRules] as const);
}

/** Makes the part of dynalite's store that its actions use. Everything in it happens at once. */
function makeStore(stored: Map<string, Item>): Store {
  const items: ReturnType<Store['getItemDb']> = {
    lock: (_keys, run) => run((done) => done),
    get: (key, done) => done(null, stored.get(key)),
    put(key, item, done) {
      stored.set(key, item);
      done();
    },
    batch(operations, done) {
      for (const { key, value } of operations) stored.set(key, value);
      done();
    },
    createValueStream({ gt, gte, lt, lte }) {
      const isAbove = (key: string) => (gt === undefined || key > gt) && (gte === undefined || key >= gte);
      const isBelow = (key: string) => (lt === undefined || key < lt) && (lte === undefined || key <= lte);
      const keys = [...stored.keys()].filter((key) => isAbove(key) && isBelow(key));
      return Readable.from(keys.sort().map((key) => stored.get(key)));
    },
  };
  return {
    options: { maxItemSize: maxItemBytes },
    getTable: (_name, done) => done(null, table),
    getItemDb: () => items,
  } as Partial<Store> as Store;
}

/** Gives a Query its response as the SDK does, whose middleware takes the body (lib/dynamodb/table/table.ts). */
export async function respondTo(command: QueryCommand, output: object): Promise<object> {
  const response = { statusCode: 200, body: Buffer.from(JSON.stringify(output)) };
  const { input, middlewareStack } = command;
  const handle = middlewareStack.resolve(async () => ({ response, output: { $metadata: {} } }), {} as never);
  return (await handle({ input } as never)).output;
}

/** @returns the input as the document client sends it */
function toWire({ Key, Item, ExpressionAttributeValues, ExclusiveStartKey, ...others }: Write): Values {
  const wire = { Key, Item, ExpressionAttributeValues, ExclusiveStartKey };
  const marshalled = Object.entries(wire).flatMap(([name, values]) => (values ? [[name, marshall(values)]] : []));
  return { ...others, ...Object.fromEntries(marshalled) };
}

/** @returns what the SDK makes of an error response */
function toException({ __type = '', message = '', ...members }: EngineError['body']): Error {
  const name = __type.split('#').at(-1) ?? '';
  const options = { message, $metadata: { httpStatusCode: 400 } };
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ ...options, ...members });
  return Object.assign(new Error(message), { name, ...options, ...members });
}
