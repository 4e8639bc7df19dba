import { type Fields, isValueOf } from '../http/fields.ts';

/** What part of the list a client asks for. */
export interface PageQuery {
  /** Only books with higher ids. */
  readonly after: number;
  /** At most this many books; absent for all. */
  readonly limit?: number;
}

/** The query parameters of GET /books. */
export const pageFields = {
  // Enough for a client to walk through a large catalog in few requests, and held in memory as a whole.
  limit: { type: 'integer', minimum: 1, maximum: 1000 },
  after: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
} as const satisfies Fields;

const canonicalUnsignedInteger = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Reads the query parameters of GET /books: `limit` and `after`, as {@link pageFields} has them. Others are left out.
 *
 * @param parameters - the query parameters as API Gateway hands them over
 * @returns what is asked for, or `undefined` when a value is malformed
 */
export function parsePageQuery(
  parameters: Readonly<Record<string, string | undefined>> | null,
): PageQuery | undefined {
  const after = parseUnsignedInteger(parameters?.after) ?? pageFields.after.default;
  if (!isValueOf(pageFields.after, after)) return undefined;
  const limit = parseUnsignedInteger(parameters?.limit);
  if (limit === undefined) return { after };
  return isValueOf(pageFields.limit, limit) ? { after, limit } : undefined;
}

/** @returns the number, NaN for other text, `undefined` for none */
function parseUnsignedInteger(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return canonicalUnsignedInteger.test(text) ? Number(text) : Number.NaN;
}
