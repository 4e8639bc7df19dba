/** What a client may set. */
export interface Fields {
  title?: string;
  author?: string;
  year?: number;
}

/**
 * @param body - a parsed body
 * @returns the fields of a book in it, or `undefined` when it is no object or a field has the wrong type
 */
export function parseFields(body: unknown): Fields | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const { title, author, year } = body as Record<string, unknown>;
  const fields: Fields = {};
  if (title !== undefined) {
    if (typeof title !== 'string' || !title.isWellFormed()) return undefined;
    fields.title = title;
  }
  if (author !== undefined) {
    if (typeof author !== 'string' || !author.isWellFormed()) return undefined;
    fields.author = author;
  }
  if (year !== undefined) {
    if (!Number.isSafeInteger(year)) return undefined;
    fields.year = year as number;
  }
  return fields;
}
