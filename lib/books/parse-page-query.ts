import { type Fields, isValueOf } from '../http/json-body.ts';
import { parseUnsignedInteger } from '../http/unsigned-integer.ts';

/** Which part of the list a client asks for. */
export interface PageQuery {
  /** Only books with higher ids. */
  readonly after: number;
  /** At most this many books; absent for all. */
  readonly limit?: number;
}

/** The query parameters of GET /books. */
export const pageFields = {
  // Enough for a client to read a large catalog in few requests, and held in memory as a whole.
  limit: { type: 'integer', minimum: 1, maximum: 1000 },
  after: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
} as const satisfies Fields;

/**
 * Reads the query parameters of GET /books: `limit` and `after`, as {@link pageFields} has them. Others are ignored.
 *
 * @param parameters - the query parameters as API Gateway passes them on
 * @returns the part of the list, or `undefined` when a value is malformed
 */
export function parsePageQuery(
  parameters: Readonly<Record<string, string | undefined>> | null,
): PageQuery | undefined {
  const { after = String(pageFields.after.default), limit } = parameters ?? {};
  const query = {
    after: parseUnsignedInteger(after),
    ...(limit !== undefined && { limit: parseUnsignedInteger(limit) }),
  };
  const valid = Object.entries(query).every(([name, value]) =>
    isValueOf(pageFields[name as keyof typeof query], value),
  );
  return valid ? (query as PageQuery) : undefined;
}
