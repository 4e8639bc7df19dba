/** Decimal digits without sign and leading zero; 16 digits hold every safe integer. */
const canonicalUnsignedInteger = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Reads a number of a path or a query string.
 *
 * @param text - for example `42`
 * @returns the number, or `undefined` for what is no canonical decimal unsigned integer up to 2^53-1 (`-1`, `01`, `1e3`)
 */
export function parseUnsignedInteger(text: string | undefined): number | undefined {
  const value = text !== undefined && canonicalUnsignedInteger.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}
