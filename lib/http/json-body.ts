import { isIntegerLiteral } from './number-literal.ts';

/** What a body is read from: the two members of an API Gateway proxy event that hold it. */
export interface EncodedBody {
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
}

/** A BOM is left in, so that JSON.parse refuses it in every encoding alike (RFC 8259 section 8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a request body as one JSON object, whatever its Content-Type.
 *
 * A number comes back only when it is the number that was written or a fraction close to it: a literal that is no
 * integer but would be rounded to one (`2020.00000000000000000001`) becomes NaN.
 *
 * @param encoded - the body, base64 of its bytes when `isBase64Encoded`
 * @returns the object, or `undefined` when the body is absent, not UTF-8, not JSON, or no JSON object
 */
export function readJsonObject(encoded: EncodedBody): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(decodeText(encoded), refuseRounding);
  } catch {
    return undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function decodeText({ body, isBase64Encoded }: EncodedBody): string {
  if (body === null) return '';
  return isBase64Encoded ? utf8.decode(Buffer.from(body, 'base64')) : body;
}

function refuseRounding(_key: string, value: unknown, context?: { source?: string }): unknown {
  return Number.isInteger(value) && !isIntegerLiteral(context?.source ?? '') ? Number.NaN : value;
}
