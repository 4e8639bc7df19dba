import type { EndpointName } from './endpoints.ts';

/** What one successful call of an endpoint asks of DynamoDB. */
export interface Capacity {
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** For books of up to 1 KB; test/integration/database-use.test.ts holds the service to it. A list is of 1,000 books. */
export const capacityOf: Readonly<Record<EndpointName, Capacity>> = {
  'create-token': { requests: 0, readUnits: 0, writeUnits: 0 },
  'create-book': { requests: 2, readUnits: 0, writeUnits: 2 },
  'get-book': { requests: 1, readUnits: 1, writeUnits: 0 },
  'update-book': { requests: 1, readUnits: 0, writeUnits: 1 },
  'delete-book': { requests: 1, readUnits: 0, writeUnits: 1 },
  'list-books': { requests: 2, readUnits: 26, writeUnits: 0 },
};

/** The check of the table when an instance starts, which the token function does not make. */
export const coldStartCheck: Capacity = { requests: 1, readUnits: 1, writeUnits: 0 };
