import type { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BookRepository } from '../../../lib/dynamodb/book-repository.ts';
import { counterKey } from '../../../lib/dynamodb/keys.ts';
import { Table } from '../../../lib/dynamodb/table.ts';
import type { Values } from '../../simulators/expressions.ts';
import { type Command, MemoryTable } from '../../simulators/memory-table.ts';
import { aBook } from '../../support/a-book.ts';
import { useTables } from '../../support/fixtures.ts';

const ignoreFailure = () => {};

/** Lets the repository do everything that it can do with two books. @returns what it sent */
async function recordCommands(): Promise<readonly Command[]> {
  const table = new MemoryTable();
  table.store({ ...counterKey, lastId: 0 });
  const commands: Command[] = [];
  const send = async (command: Command) => {
    commands.push(command);
    return table.execute(command);
  };
  const books = new BookRepository(new Table({ send } as unknown as DynamoDBDocumentClient, 'books'));
  for (const key of [undefined, 'key']) {
    const { book, version = 'none' } = await books.create(aBook({ title: 'new' }), key);
    await books.create(aBook({ title: 'new' }), key);
    await books.update(book.id, { year: 1 });
    await books.update(book.id, { author: 'changed' }, [version]).catch(ignoreFailure);
    const changed = await books.update(book.id, { title: 'changed', author: 'changed' });
    await books.update(book.id, { year: 2 }, [changed.version ?? '', 'another']);
    await books.delete(book.id, [version]).catch(ignoreFailure);
    await books.delete(book.id);
    await books.update(book.id, { year: 3 }).catch(ignoreFailure);
    await books.delete(book.id).catch(ignoreFailure);
  }
  return commands;
}

/** How a command ends. */
async function outcomeOf(execute: () => object | Promise<object>) {
  try {
    const { Item, Attributes } = (await execute()) as { readonly Item?: Values; readonly Attributes?: Values };
    return { Item, Attributes };
  } catch (error) {
    const { name, Item } = error as ConditionalCheckFailedException;
    const { CancellationReasons: reasons } = error as TransactionCanceledException;
    return { name, Item, reasons: reasons?.map(({ Code, Item }) => ({ Code, Item })) };
  }
}

const tables = await useTables();

test('the table in memory carries out what the repository sends as dynalite does, in any order', async () => {
  const commands = await recordCommands();
  const anyOrder = fc.array(fc.constantFrom(...commands), { minLength: 50, maxLength: 100 });

  await fc.assert(
    fc.asyncProperty(anyOrder, async (order) => {
      const memory = new MemoryTable();
      const { client, tableName: TableName } = await tables.open();
      for (const command of order) {
        const send = client.send.bind(client) as (command: object) => Promise<object>;
        const expected = await outcomeOf(() => send(withTable(command, TableName)));

        expect(await outcomeOf(() => memory.execute(command)), JSON.stringify(command.input)).toEqual(expected);
      }
    }),
    { numRuns: 10, seed: 1 },
  );
});

/** @returns the same command for another table */
function withTable(command: Command, TableName: string): object {
  const { input } = command;
  const make = command.constructor as new (input: object) => object;
  const items = 'TransactItems' in input ? input.TransactItems : undefined;
  if (items === undefined) return new make({ ...input, TableName });
  return new make({ TransactItems: items.map(({ Put }) => ({ Put: { ...Put, TableName } })) });
}
