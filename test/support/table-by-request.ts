import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { openBooks, type TableAccess } from './book-table.ts';

/** Opens a table for a client whose requests `send` carries out. */
export function openBySending<Command, Options>(
  send: (command: Command, options: Options) => Promise<unknown>,
  tableName = 'books',
): TableAccess {
  return { client: { send } as object as DynamoDBDocumentClient, tableName };
}

/** What becomes of a request, which `send` sends. */
export type Course = (send: () => Promise<object>) => Promise<unknown>;

/**
 * Opens the books for a client whose requests of a kind take a course each, in turn; further ones are sent as usual.
 *
 * @returns the books, and the commands of all requests so far
 */
export function openWithCourses(
  { client, tableName }: TableAccess,
  kind: abstract new (...input: never[]) => object,
  ...courses: readonly Course[]
) {
  const left = [...courses];
  const requests: string[] = [];
  const access = openBySending((command: object, options: object) => {
    requests.push(command.constructor.name);
    const send = () => client.send(command as never, options);
    const course = command instanceof kind ? left.shift() : undefined;
    return course ? course(send) : send();
  }, tableName);
  return { books: openBooks(access), requests };
}
