/** What part of the list a client asks for. */
export interface PageQuery {
  /** Only books with higher ids. */
  readonly after: number;
  /** At most this many books; absent for all. */
  readonly limit?: number;
}

/** Enough for a client to walk through a large catalog in few requests, and held in memory as a whole. */
const maxLimit = 1000;

const canonicalUnsignedInteger = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Reads the query parameters of GET /books: `limit`, 1 to 1000, and `after`, an unsigned integer up to 2^53-1. Others
 * are left out.
 *
 * @param parameters - the query parameters as API Gateway hands them over
 * @returns what is asked for, or `undefined` when a value is malformed
 */
export function parsePageQuery(
  parameters: Readonly<Record<string, string | undefined>> | null,
): PageQuery | undefined {
  const after = parseUnsignedInteger(parameters?.after ?? '0');
  if (!Number.isSafeInteger(after)) return undefined;
  if (parameters?.limit === undefined) return { after };
  const limit = parseUnsignedInteger(parameters.limit);
  return limit >= 1 && limit <= maxLimit ? { after, limit } : undefined;
}

function parseUnsignedInteger(text: string): number {
  return canonicalUnsignedInteger.test(text) ? Number(text) : Number.NaN;
}
