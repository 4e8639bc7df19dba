/** What a call asks of DynamoDB. */
export interface Capacity {
  readonly requests: number;
  /** Units for reads of 4 KB. */
  readonly readUnits: number;
  /** Units for writes of 1 KB. */
  readonly writeUnits: number;
}

/** What a successful call of each endpoint asks of DynamoDB for books of up to 1 KB; a list is one of 1,000 books. */
export const capacityOf = {
  'POST /token': { requests: 0, readUnits: 0, writeUnits: 0 },
  'POST /book': { requests: 2, readUnits: 0, writeUnits: 2 },
  'GET /books': { requests: 2, readUnits: 24, writeUnits: 0 },
  'GET /book/{id}': { requests: 1, readUnits: 1, writeUnits: 0 },
  'PUT /book/{id}': { requests: 1, readUnits: 0, writeUnits: 1 },
  'DELETE /book/{id}': { requests: 1, readUnits: 0, writeUnits: 1 },
} as const satisfies Readonly<Record<string, Capacity>>;

/** The check of the table when an instance starts, which the token function does not make. */
export const coldStartCheck: Capacity = { requests: 1, readUnits: 1, writeUnits: 0 };
