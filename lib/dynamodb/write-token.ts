/** Makes the token of one attempt at a write. Tokens have an order in time, as text, and those of one process ascend. */
export { v7 as createWriteToken } from 'uuid';

/** A UUIDv7 (RFC 9562 section 5.7) begins with its milliseconds since 1970. Builds before 1.0.0 stored random tokens. */
const uuidV7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** @returns a text between the tokens before a moment and those from then on: so long after a token */
export function tokenLimit(token: string, laterMs: number): string {
  const milliseconds = (timeOf(token) ?? 0) + laterMs;
  return milliseconds.toString(16).padStart(12, '0').replace(/^.{8}/, '$&-');
}

/** Whether a token is not older than the moment of a {@link tokenLimit}. Random tokens are older than any. */
export function isSince(token: string | undefined, limit: string): boolean {
  return token !== undefined && timeOf(token) !== undefined && token >= limit;
}

function timeOf(token: string): number | undefined {
  const [, high, low] = uuidV7.exec(token) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}
