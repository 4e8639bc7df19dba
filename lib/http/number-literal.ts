const numberLiteral = /^-?(?<integer>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<exponent>[+-]?\d+))?$/;

/**
 * Tells whether a JSON number literal (RFC 8259 section 6) denotes an integer in mathematics: `2020`, `2020.0` and
 * `2.02e3` do, `2020.00000000000000000001` and `1e-400` do not, although JavaScript rounds both to integers.
 *
 * @param literal - the source text of the number
 */
export function isIntegerLiteral(literal: string): boolean {
  const { integer, fraction = '', exponent = '0' } = numberLiteral.exec(literal)?.groups ?? {};
  if (integer === undefined) return false;
  const digits = integer + fraction;
  // A loop and not /0+$/: that pattern takes quadratic time on a long run of zeros inside the digits.
  let significant = digits.length;
  while (significant > 0 && digits[significant - 1] === '0') significant -= 1;
  const decimalPlaces = fraction.length - Number(exponent) - (digits.length - significant);
  return significant === 0 || decimalPlaces <= 0;
}
