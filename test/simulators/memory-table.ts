import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { GetCommand, type PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { holds, update, type Values } from './expressions.ts';

/** A command of the document client. */
export type Command = GetCommand | PutCommand | UpdateCommand | TransactWriteCommand;

/** What is common to a put and an update. */
interface Write {
  readonly Key?: Values | undefined;
  readonly Item?: Values | undefined;
  ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Values | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
}

/** "Amazon DynamoDB quotas": an item, with the names of its attributes. */
const maxItemBytes = 400 * 1024;

const $metadata = { httpStatusCode: 400 };

/**
 * A table in memory, which carries out a request within microseconds. test/reliability/search compares it with dynalite.
 */
export class MemoryTable {
  readonly #items = new Map<string, Values>();

  /** @returns the item with a key */
  read(key: Values = {}): Values | undefined {
    return this.#items.get(`${key.shard}/${key.id}`);
  }

  /** @returns all items, in the order of their first storage */
  readAll(): readonly Values[] {
    return [...this.#items.values()];
  }

  store(item: Values): void {
    this.#items.set(`${item.shard}/${item.id}`, item);
  }

  /** Whether the conditions of a command hold. */
  accepts(command: Command): boolean {
    return writesOf(command).every((write) => this.#accepts(write));
  }

  /** Carries out a command. @returns its output @throws the SDK's exceptions */
  execute(command: Command): { readonly Item?: Values | undefined; readonly Attributes?: Values } {
    if (command instanceof GetCommand) return { Item: this.read(command.input.Key) };
    const writes = writesOf(command);
    if (!this.accepts(command)) {
      const CancellationReasons = writes.map((write) => this.#explain(write));
      throw command instanceof TransactWriteCommand
        ? new TransactionCanceledException({ message: 'canceled', $metadata, CancellationReasons })
        : new ConditionalCheckFailedException({ message: 'refused', $metadata, Item: CancellationReasons[0]?.Item });
    }
    const items = writes.map((write) => write.Item ?? this.#makeUpdated(command as UpdateCommand));
    for (const item of items) checkSize(item);
    for (const item of items) this.store(item);
    return command instanceof UpdateCommand ? { Attributes: items[0] as Values } : {};
  }

  #accepts(write: Write): boolean {
    return holds(write.ConditionExpression, this.read(write.Key ?? write.Item) ?? {}, write);
  }

  #explain(write: Write): CancellationReason {
    if (this.#accepts(write)) return { Code: 'None' };
    const stored = this.read(write.Key ?? write.Item);
    const isShown = stored && write.ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
    return { Code: 'ConditionalCheckFailed', ...(isShown && { Item: marshall(stored) }) };
  }

  #makeUpdated({ input }: UpdateCommand): Values {
    return update(input.UpdateExpression ?? '', this.read(input.Key) ?? { ...input.Key }, input);
  }
}

/** @returns the writes of a command, none of a read */
export function writesOf(command: Command): readonly Write[] {
  if (command instanceof GetCommand) return [];
  if (!(command instanceof TransactWriteCommand)) return [command.input];
  return command.input.TransactItems?.flatMap(({ Put = [] }) => Put) ?? [];
}

function checkSize(item: Values): void {
  const bytes = Object.entries(item).map(([name, value]) => Buffer.byteLength(name + value));
  if (bytes.reduce((sum, each) => sum + each) <= maxItemBytes) return;
  const message = 'Item size to update has exceeded the maximum allowed size';
  throw Object.assign(new Error(message), { name: 'ValidationException', $metadata });
}
