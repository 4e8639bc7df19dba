/**
 * Tells whether a value is a string that UTF-8 can carry unaltered. A lone surrogate (`"\ud800"` in JSON) is not:
 * it would be replaced by U+FFFD on its way into the database.
 *
 * @param value - a value out of a parsed JSON body
 */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}
