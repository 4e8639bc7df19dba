import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { openBooks, type TableAccess } from './book-table.ts';

/** Opens a table for a client whose requests `send` carries out. */
export function openBySending<Command, Options>(
  send: (command: Command, options: Options) => Promise<unknown>,
  tableName = 'books',
): TableAccess {
  return { client: { send } as object as DynamoDBDocumentClient, tableName };
}

/** What is between the books and a request, which `send` sends. */
export type Interceptor = (send: () => Promise<object>) => Promise<unknown>;

/**
 * Opens the books for a client whose requests of a kind meet an interceptor each, in turn; further ones are sent as usual.
 *
 * @returns the books, and the commands of all requests so far
 */
export function openWithInterceptors(
  { client, tableName }: TableAccess,
  kind: abstract new (...input: never[]) => object,
  ...interceptors: readonly Interceptor[]
) {
  const left = [...interceptors];
  const requests: string[] = [];
  const access = openBySending((command: object, options: object) => {
    requests.push(command.constructor.name);
    const send = () => client.send(command as never, options);
    const intercept = command instanceof kind ? left.shift() : undefined;
    return intercept ? intercept(send) : send();
  }, tableName);
  return { books: openBooks(access), requests };
}
